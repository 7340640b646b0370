"""Checks a built site: every link leads somewhere in it, and nothing is loaded from elsewhere."""

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself, by tag.
_LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src"}
_LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "manifest"}


@dataclass
class Page(HTMLParser):
    """What a page links to, loads and can be linked at."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Takes note of one tag."""
        found = {name: value or "" for name, value in attrs}
        self.anchors.update(found[name] for name in ("id", "name") if name in found)
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag in _LOADED and found.get(_LOADED[tag]):
            self.loads.append(found[_LOADED[tag]])
        elif tag == "link" and _LOADED_LINKS & set(found.get("rel", "").split()):
            self.loads.append(found.get("href", ""))


def problems(site: Path) -> list[str]:
    """Returns what is wrong with a site, one sentence each."""
    pages = {path: _read(path) for path in site.rglob("*.html")}
    found = []
    for path, page in pages.items():
        where = path.relative_to(site)
        found += [
            f"{where} loads {load} from elsewhere." for load in page.loads if urlsplit(load).netloc
        ]
        for link in [*page.links, *page.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or where.name == "404.html":
                continue
            target = _target(path, site, unquote(parts.path))
            part = unquote(parts.fragment)
            if not target.exists():
                found.append(f"{where} links to {link}, which is not there.")
            elif part and target in pages and part not in pages[target].anchors:
                found.append(f"{where} links to {link}, which has no such part.")
    return found


def _read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _target(page: Path, site: Path, link: str) -> Path:
    if not link:
        return page
    place = (site / link.lstrip("/") if link.startswith("/") else page.parent / link).resolve()
    return place / "index.html" if place.is_dir() else place


if __name__ == "__main__":
    wrong = problems(Path(sys.argv[1]).resolve())
    for sentence in wrong:
        print(sentence)  # noqa: T201
    sys.exit(1 if wrong else 0)

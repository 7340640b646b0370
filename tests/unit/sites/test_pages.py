"""The page of a site, hosted and in one file."""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from hushway.errors import HushwayError
from hushway.release.drawing.reader_page import hosted_files, one_file, site_json
from hushway.sites.releases import SiteRelease
from hushway.web import bundle as built_pages

Take = Callable[..., SiteRelease]

EVIL = "</script><script>alert(1)</script><!--<script>\u2028"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'"
)


class Elements(HTMLParser):
    """Every element with its attributes and the text right inside."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None], str]] = []
        self._inside = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), ""))
        self._inside = True

    def handle_endtag(self, tag: str) -> None:
        del tag
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            tag, attributes, text = self.found[-1]
            self.found[-1] = tag, attributes, text + data

    def of(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attributes, text) for name, attributes, text in self.found if name == tag]

    @property
    def policy(self) -> str:
        (content,) = (
            attributes["content"]
            for attributes, _ in self.of("meta")
            if attributes.get("http-equiv") == "Content-Security-Policy"
        )
        assert content is not None
        return content


def hashed(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def allowed(policy: str, name: str) -> str:
    (sources,) = re.findall(rf"{name} ([^;]*)", policy)
    return str(sources)


def test_a_hosted_page_has_its_policy_first_and_loads_from_its_own_site(bundle: Path) -> None:
    files = dict(hosted_files(bundle))
    page = Elements(files.pop("index.html").decode())
    assert page.policy == POLICY
    tags = [tag for tag, _, _ in page.found]
    assert tags[tags.index("head") + 1] == "meta"
    assert page.found[tags.index("head") + 1][1].get("content") == POLICY
    assert [text.strip() for _, text in page.of("script")] == [""]
    assert page.of("style") == []
    # Of the steward's pages nothing is taken.
    assert files == {
        "assets/reader.js": (bundle / "assets/reader.js").read_bytes(),
        "assets/reader.css": (bundle / "assets/reader.css").read_bytes(),
    }


def test_a_policy_of_the_bundle_gives_way_to_that_of_the_site(bundle: Path) -> None:
    page = bundle / "reader.html"
    own = '<meta http-equiv="Content-Security-Policy" content="default-src *">'
    page.write_text(page.read_text().replace("<title>", f"{own}<title>").replace("<link", own, 1))
    assert Elements(dict(hosted_files(bundle))["index.html"].decode()).policy == POLICY


def data_in(page: str) -> Any:
    (text,) = (
        text
        for attributes, text in Elements(page).of("script")
        if attributes.get("id") == "hushway-site"
    )
    return json.loads(text)


def test_one_file_holds_everything_under_a_policy_of_hashes(bundle: Path, take: Take) -> None:
    page = one_file(bundle, [take()]).decode()
    found = Elements(page)
    script, data = found.of("script")
    ((_, style),) = found.of("style")
    assert script == ({"type": "module"}, (bundle / "assets/reader.js").read_text())
    assert style == (bundle / "assets/reader.css").read_text()
    assert allowed(found.policy, "script-src") == hashed(script[1])
    assert allowed(found.policy, "style-src") == hashed(style)
    assert allowed(found.policy, "default-src") == "'none'"
    assert allowed(found.policy, "connect-src") == "'none'"
    assert "unsafe" not in page
    assert "src=" not in re.sub(r"[a-z]+-src", "", page)
    assert data[0] == {"type": "application/json", "id": "hushway-site"}
    assert data_in(page) == {
        "site": json.loads(site_json([take("two")]))
        | {
            "releases": [
                {
                    "slug": "one",
                    "title": "One",
                    "release_type": "od",
                    "period": "2 March 2026",
                }
            ]
        },
        "releases": {
            "one": {"atlas": {"a": "b"}, "columns": base64.b64encode(b"\x00\xff" * 8).decode()}
        },
    }


def test_no_name_can_end_the_element_that_it_stands_in(bundle: Path, take: Take) -> None:
    atlas = json.dumps({"title": EVIL, "places": {"names": [EVIL]}}).encode()
    page = one_file(bundle, [take(atlas=atlas, title=EVIL)]).decode()
    found = data_in(page)
    assert found["site"]["releases"][0]["title"] == EVIL
    assert found["releases"]["one"]["atlas"]["places"]["names"] == [EVIL]
    element = page[page.index('id="hushway-site">') + len('id="hushway-site">') :]
    assert element.count("<") == len(["</script>", "</body>", "</html>"])
    assert len(Elements(page).of("script")) == 2


def test_pages_are_the_same_bytes_each_time(bundle: Path, take: Take) -> None:
    one = take()
    assert one_file(bundle, [one]) == one_file(bundle, [one])
    assert dict(hosted_files(bundle)) == dict(hosted_files(bundle))


@pytest.mark.parametrize("text", ["'</script>'", "'<!--'", "a\r\nb"])
def test_a_script_that_cannot_stand_in_a_page_is_refused(
    bundle: Path, take: Take, text: str
) -> None:
    (bundle / "assets" / "reader.js").write_bytes(text.encode())
    with pytest.raises(HushwayError, match="not as they were built"):
        one_file(bundle, [take()])


@pytest.mark.parametrize(
    "tag", ['<script src="https://elsewhere.example/x.js"></script>', '<img src="x.png">']
)
def test_pages_that_load_something_else_are_refused(bundle: Path, take: Take, tag: str) -> None:
    page = bundle / "reader.html"
    page.write_text(page.read_text().replace("</head>", f"{tag}</head>"))
    with pytest.raises(HushwayError, match="not as they were built"):
        dict(hosted_files(bundle))
    with pytest.raises(HushwayError, match="not as they were built"):
        one_file(bundle, [take()])


def test_missing_pages_are_told(tmp_path: Path) -> None:
    with pytest.raises(HushwayError, match="not installed"):
        dict(hosted_files(tmp_path))


def test_the_built_pages_can_be_hosted_and_put_into_one_file(take: Take) -> None:
    files = dict(hosted_files(built_pages()))
    assert {"index.html", "assets/reader.js", "assets/reader.css"} <= set(files)
    # A style sheet could name further files, which would be missing.
    styles = [data for name, data in files.items() if name.endswith(".css")]
    assert all(b"url(" not in data and b"@import" not in data for data in styles)
    page = one_file(built_pages(), [take()]).decode()
    found = Elements(page)
    scripts = [text for attributes, text in found.of("script") if "id" not in attributes]
    assert allowed(found.policy, "script-src") == " ".join(map(hashed, scripts))
    assert "one" in data_in(page)["releases"]

"""The reader's page: as a site hosts it, with everything in one file, and in a release."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from importlib.resources.abc import Traversable
from typing import Any, Final, Protocol

from hushway.errors import HushwayError

SITE_FORMAT, SITE_VERSION = "hushway-site", 1
ELEMENT: Final = "hushway-site"
# How a page in one file begins; only a file that begins so is ever replaced.
ONE_FILE: Final = b"<!doctype html><!-- hushway site in one file -->\n"

_PAGE = "reader.html"
_BESIDE_STYLE = (
    "nav.beside{padding:.5rem 1rem;font-size:.875rem}nav.beside a{margin-right:1rem;color:inherit}"
)
_DOCTYPE = re.compile(r"\s*<!doctype html>\s*", re.IGNORECASE)
_HEAD = re.compile(r"<head>", re.IGNORECASE)
_POLICY = re.compile(r'<meta\b[^>]*\bhttp-equiv="Content-Security-Policy"[^>]*>\s*', re.IGNORECASE)
_HEAD_END = re.compile(r"</head>", re.IGNORECASE)
_BODY_END = re.compile(r"</body>", re.IGNORECASE)
_SCRIPT = re.compile(r'<script\b[^>]*\bsrc="\./(assets/[a-z0-9._-]+)"[^>]*></script>')
_STYLE = re.compile(r'<link\b[^>]*\bhref="\./(assets/[a-z0-9._-]+)"[^>]*>')
_OTHER_SOURCE = re.compile(r'\b(?:src|href)="(?!data:)')

_HOSTED = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data: blob:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
}


class Drawn(Protocol):
    """A release with its atlas, as `atlas_files` writes it."""

    @property
    def slug(self) -> str:
        """Its address in the page."""

    @property
    def title(self) -> str:
        """What it is called."""

    @property
    def release_type(self) -> str:
        """What kind of release it is."""

    @property
    def period(self) -> str:
        """The days that it covers, in words."""

    @property
    def atlas(self) -> bytes:
        """The bytes of atlas.json."""

    @property
    def columns(self) -> bytes:
        """The bytes of columns.bin."""

    @property
    def ground(self) -> bytes | None:
        """The bytes of ground.geojson; None if it has none."""


def site_json(releases: Sequence[Drawn], series: Mapping[str, Any] | None = None) -> bytes:
    """Returns site.json: which releases there are, and what they say as a series."""
    return (_json(_site(releases, series)) + "\n").encode()


def hosted_files(bundle: Traversable) -> Iterator[tuple[str, bytes]]:
    """Yields the page of a site and what it loads, by path: scripts and styles of this site only.

    Raises:
        HushwayError: The pages are not there, or load something else.
    """
    page = _page(bundle)
    names = [found[1] for form in (_SCRIPT, _STYLE) for found in form.finditer(page)]
    yield "index.html", _with_policy(page, _HOSTED).encode()
    for name in names:
        yield name, (bundle / name).read_bytes()


def one_file(
    bundle: Traversable,
    releases: Sequence[Drawn],
    beside: Mapping[str, str] | None = None,
    *,
    series: Mapping[str, Any] | None = None,
) -> bytes:
    """Returns a page that holds its script, its style and all releases, and loads nothing.

    Names in the releases are data: no text of theirs can end the element that they stand in.

    Args:
        bundle: The built pages.
        releases: The releases.
        beside: What lies in the same folder and is linked to: titles by path.
        series: What the releases say as a series, if they are one.

    Raises:
        HushwayError: The pages are not there, or cannot stand in one file.
    """
    scripts: list[str] = []
    styles: list[str] = []
    page = _SCRIPT.sub(_inside(bundle, "script", ' type="module"', scripts), _page(bundle))
    page = _STYLE.sub(_inside(bundle, "style", "", styles), page)
    if beside:
        page = _with_links(page, beside)
        styles.append(_BESIDE_STYLE)
    policy = {
        **_HOSTED,
        "script-src": " ".join(map(_hash, scripts)) or "'none'",
        "style-src": " ".join(map(_hash, styles)) or "'none'",
        "img-src": "data: blob:",
        "connect-src": "'none'",
    }
    data = {
        "site": _site(releases, series),
        "releases": {
            each.slug: {
                "atlas": json.loads(each.atlas),
                "columns": base64.b64encode(each.columns).decode(),
                **({} if each.ground is None else {"ground": json.loads(each.ground)}),
            }
            for each in releases
        },
    }
    element = f'<script type="application/json" id="{ELEMENT}">{_inert(_json(data))}</script>'
    *before, after = _BODY_END.split(_with_policy(page, policy))
    if len(before) != 1:
        raise _odd_bundle()
    return ONE_FILE + _DOCTYPE.sub("", f"{before[0]}{element}</body>{after}", count=1).encode()


def _page(bundle: Traversable) -> str:
    """Returns the reader's page, which loads its own scripts and styles only."""
    file = bundle / _PAGE
    if not file.is_file():
        raise HushwayError(
            "The pages of hushway are not installed with it.",
            advice="Install hushway from a wheel, or build the pages: make web.",
        )
    page = file.read_text(encoding="utf-8")
    if _OTHER_SOURCE.search(_SCRIPT.sub("", _STYLE.sub("", page))):
        raise _odd_bundle()
    return page


def _with_links(page: str, beside: Mapping[str, str]) -> str:
    links = "".join(f'<a href="{path}">{escape(title)}</a>' for path, title in beside.items())
    nav = f'<nav class="beside" aria-label="Files of this release">{links}</nav>'
    # Last, since the link that skips to the numbers must be the first of a page.
    page, found = _BODY_END.subn(lambda tag: f"{nav}{tag[0]}", page, count=1)
    page, headed = _HEAD_END.subn(f"<style>{_BESIDE_STYLE}</style></head>", page, count=1)
    if not found or not headed:
        raise _odd_bundle()
    return page


def _site(releases: Sequence[Drawn], series: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "format": SITE_FORMAT,
        "version": SITE_VERSION,
        "releases": [
            {
                "slug": each.slug,
                "title": each.title,
                "release_type": each.release_type,
                "period": each.period,
                **({} if each.ground is None else {"ground": True}),
            }
            for each in releases
        ],
        **({} if series is None else {"series": series}),
    }


def _json(facts: Any) -> str:
    return json.dumps(facts, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _inert(text: str) -> str:
    """Returns JSON in which no markup can begin: the same values to whoever parses it."""
    return text.replace("<", "\\u003c")


def _inside(
    bundle: Traversable, tag: str, attributes: str, texts: list[str]
) -> Callable[[re.Match[str]], str]:
    """Returns what puts a file where it was named, and keeps its text for the policy."""

    def put(found: re.Match[str]) -> str:
        text = (bundle / found[1]).read_bytes().decode()
        # The first two would end the element too early; a browser reads the third as a new line.
        if re.search(rf"</{tag}|<!--|\r", text, re.IGNORECASE):
            raise _odd_bundle()
        texts.append(text)
        return f"<{tag}{attributes}>{text}</{tag}>"

    return put


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _with_policy(page: str, policy: dict[str, str]) -> str:
    content = "; ".join(f"{name} {sources}" for name, sources in policy.items())
    meta = f'<meta http-equiv="Content-Security-Policy" content="{content}">'
    # Before all else: a policy holds for what comes after it.
    placed, found = _HEAD.subn(lambda tag: f"{tag[0]}{meta}", _POLICY.sub("", page), count=1)
    if not found:
        raise _odd_bundle()
    return placed


def _odd_bundle() -> HushwayError:
    return HushwayError(
        "The pages of hushway are not as they were built.",
        advice="Install hushway anew, or report this as a bug.",
    )

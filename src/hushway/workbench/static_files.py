"""Static files: the built pages, read once and looked up by name."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from starlette.responses import Response

from hushway.workbench.responses import RefusalError

_TYPES: Final = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_ASSETS: Final = "assets"


def static_file(name: str) -> Response:
    """Returns a page or one of its parts.

    Raises:
        RefusalError: There is none of that name.
    """
    data = _built().get(name)
    if data is None:
        raise RefusalError(404, "There is no such page.", advice="Begin at the first one.")
    suffix = name[name.rfind(".") :]
    return Response(data, media_type=_TYPES.get(suffix, "application/octet-stream"))


@cache
def _built() -> Mapping[str, bytes]:
    bundle = files("hushway").joinpath("web")
    if not bundle.is_dir():
        return {}
    return {
        **_files(bundle, ""),
        **_files(bundle.joinpath(_ASSETS), f"{_ASSETS}/"),
    }


def _files(folder: Traversable, prefix: str) -> dict[str, bytes]:
    return {
        f"{prefix}{one.name}": one.read_bytes()
        for one in folder.iterdir()
        if one.is_file() and one.name[one.name.rfind(".") :] in _TYPES
    }

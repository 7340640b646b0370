"""The readers' process: serves releases read-only, and knows nothing else of a steward.

`hushway.workbench.reader_process` starts it with a bare environment and listening sockets. The
first line of its standard input has the secret of its paths and a scratch folder. Each further line
is a list of release folders, which it verifies and draws as `hushway site` does. It ends with its
standard input.
"""

import json
import os
import shutil
import socket
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.types import Receive, Scope, Send

from hushway.errors import HushwayError
from hushway.exit_messages import error_message_of
from hushway.release.folder.seal import SEAL
from hushway.release.untrusted.landlock import allow_only
from hushway.sites.releases import SiteRelease, verified_releases
from hushway.sites.slugs import distinct_slugs
from hushway.sites.write import fill_site
from hushway.workbench.addresses import LOOPBACK_NAME, Address
from hushway.workbench.certificates import PAGE, POLICY
from hushway.workbench.http_server import uvicorn_server
from hushway.workbench.login import SecretPath
from hushway.workbench.responses import RefusalError, error_response

_FIRST: Final = "index.html"
_FILES: Final = "/files/"
_TYPES: Final = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
}
# Fewer than a site may have; a release has two dozen files.
_MOST_RELEASES: Final = 50


class Site:
    """Serves the files of a site, looked up by name, so that no path leads elsewhere.

    Args:
        prefix: The beginning of all paths.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._files: Mapping[str, Path] = {}

    def show(self, folder: Path) -> None:
        """Serves another site from now on."""
        self._files = {
            file.relative_to(folder).as_posix(): file
            for file in folder.rglob("*")
            if file.is_file()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Responds with a file."""
        path = Request(scope).url.path.removeprefix(self._prefix) or _FIRST
        file = self._files.get(path)
        if file is None:
            error = RefusalError(404, "There is no such page.", advice="Begin at the first one.")
            await error_response(error)(scope, receive, send)
            return
        await _served(path, file)(scope, receive, send)


def _served(path: str, file: Path) -> FileResponse:
    if _FILES in path:
        # Files of a release are downloaded, never shown.
        return FileResponse(file, media_type="application/octet-stream", filename=file.name)
    kind = _TYPES.get(file.suffix, "application/octet-stream")
    policy = {"content-security-policy": POLICY} if file.name == PAGE else {}
    return FileResponse(file, media_type=kind, headers=policy)


class SiteBuilder:
    """Builds sites of releases; each release is verified and drawn once."""

    def __init__(self, scratch: Path, keep: ExitStack) -> None:
        self._scratch = scratch
        self._keep = keep
        self._known: dict[tuple[str, bytes, bool], SiteRelease] = {}
        self._sites = 0

    def build(self, folders: Sequence[str]) -> tuple[Path, dict[str, Any]]:
        """Makes a site of releases; those that do not verify are left out.

        Returns:
            The site, and what is in it.
        """
        found, left_out = [], []
        for folder in folders[:_MOST_RELEASES]:
            try:
                found.append(self._verified(folder, sums=len(folders) > 1))
            except (HushwayError, OSError) as problem:
                left_out.append({"folder": folder, "why": error_message_of(problem).message})
        slugs = distinct_slugs(release.title for release in found)
        named = [replace(one, slug=slug) for one, slug in zip(found, slugs, strict=True)]
        self._sites += 1
        site = self._scratch / str(self._sites)
        fill_site(named, site)
        shown = [{"folder": str(one.folder), "slug": one.slug} for one in named]
        return site, {"shown": shown, "left_out": left_out}

    def _verified(self, folder: str, *, sums: bool) -> SiteRelease:
        key = folder, (Path(folder) / SEAL).read_bytes()[:_SEAL_BYTES], sums
        if key not in self._known:
            drawn = verified_releases([Path(folder)], sums=sums)
            (self._known[key],) = self._keep.enter_context(drawn)
        return self._known[key]


_SEAL_BYTES: Final = 1 << 20


def _lists() -> Iterator[list[str]]:
    for line in sys.stdin:
        yield json.loads(line)


def main() -> None:
    """Serves until standard input ends."""
    listeners = [socket.socket(fileno=int(handle)) for handle in sys.argv[1:]]
    given = json.loads(sys.stdin.readline())
    link, scratch = SecretPath(given["secret"]), Path(given["scratch"])
    # Which folders will be listed is not known yet, so it may read everything. It writes nothing
    # but its own folder, which it removes at the end.
    allow_only(reads=[Path("/")], writes=[scratch.parent])
    site = Site(link.prefix)
    server = uvicorn_server(
        site,
        address=Address(host=LOOPBACK_NAME, port=listeners[0].getsockname()[1]),
        access=link,
        goodbye_seconds=1,
    )

    def follow() -> None:
        try:
            with ExitStack() as keep:
                builder = SiteBuilder(scratch, keep)
                # Until the first list is drawn there is a page without releases.
                site.show(builder.build([])[0])
                for folders in _lists():
                    shown, said = builder.build(folders)
                    site.show(shown)
                    print(json.dumps(said), flush=True)  # noqa: T201  the answer
        except BrokenPipeError:
            # The server has ended meanwhile.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        finally:
            # The server may have been killed.
            shutil.rmtree(scratch, ignore_errors=True)
            server.should_exit = True

    following = threading.Thread(target=follow)
    following.start()
    server.run(sockets=listeners)
    following.join()


if __name__ == "__main__":
    # Other users must not read temporary files.
    os.umask(0o077)
    main()

"""A server of somebody else on this machine: it keeps what it is sent, and replays it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2

# Every way in which the workbench could take somebody for the steward.
_METHODS = ("GET", "POST")
_PATHS = ("/api/state", "/api/tasks", "/api/plans")


class OtherPort:
    """What arrived on the other port.

    Attributes:
        url: Where it is.
        heard: The headers of each request, and its path.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.heard: list[tuple[str, list[tuple[str, str]]]] = []

    def replayed(self, origin: str) -> Iterator[tuple[int, str]]:
        """Sends all that was heard to a server, and yields what it answers."""
        with httpx2.Client(base_url=origin, timeout=60) as client:
            for path, headers in self.heard:
                kept = [one for one in headers if one[0].lower() not in {"host", "origin"}]
                for method in _METHODS:
                    for asked in (*_PATHS, f"/api/state?{path.partition('?')[2]}"):
                        sent = [*kept, ("Origin", origin)]
                        answer = client.request(method, asked, headers=sent)
                        yield answer.status_code, answer.text


@contextmanager
def another_port() -> Iterator[OtherPort]:
    """Serves an empty page on a free port of 127.0.0.1."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            other.heard.append((self.path, list(self.headers.items())))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>other</title>")

        def log_message(self, *_args: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        other = OtherPort(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield other
        finally:
            server.shutdown()
            thread.join()

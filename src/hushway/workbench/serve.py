"""The verb `serve`: opens the workbench, if its libraries are installed."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

from hushway.errors import HushwayError

PORT = 8321
_LIBRARIES = ("starlette", "tomlkit", "uvicorn")


def _print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def serve(
    places: Sequence[Path | str] | None = None,
    *,
    port: int = PORT,
    host: str = "127.0.0.1",
    open_: bool = False,
    announce: Callable[[str], None] = _print_line,
    notice: Callable[[str], None] = _print_line,
) -> None:
    """Serves the workbench until it is interrupted: check, price, publish and read in a browser.

    Args:
        places: Plans, or folders with plans; the current folder unless said.
        port: The port to listen on; 0 for any that is free.
        host: The address to listen on. Others than the default let other machines ask.
        open_: Whether to open it in the browser too.
        announce: Told the one-time login link.
        notice: Told what a person at the terminal should know.

    Raises:
        HushwayError: Libraries are missing, the port is taken, or there are no such plans.
    """
    refuse_missing_libraries()
    from hushway.workbench.server import run_workbench

    with ExitStack() as stack:

        def announce_link(link: str) -> None:
            announce(f"Open this address; it lets one browser in, once:\n{link}")
            if open_:
                stack.enter_context(opened_privately(link))

        run_workbench(
            [Path(place) for place in places or [Path()]],
            host=host,
            port=port,
            announce=announce_link,
            notice=notice,
        )


def refuse_missing_libraries() -> None:
    """Refuses to start without the libraries of the workbench.

    Raises:
        HushwayError: Some are not installed; the message says how to install them.
    """
    missing = missing_libraries()
    if missing:
        raise HushwayError(
            f"The workbench needs libraries that are not installed: {', '.join(missing)}.",
            advice="Install them: pip install 'hushway[serve]'",
        )


def missing_libraries() -> list[str]:
    """Returns the libraries of the workbench that are not installed."""
    return [name for name in _LIBRARIES if find_spec(name) is None]


@contextmanager
def opened_privately(link: str) -> Iterator[None]:
    """Opens a login link in the browser without showing it to other users of the machine.

    Other users can see the arguments of processes. So the browser is given a file that only this
    user can read and that redirects to the link. The file is removed at the end.
    """
    import tempfile
    import webbrowser
    from html import escape

    with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as file:
        file.write(f'<meta http-equiv="refresh" content="0; url={escape(link)}">\n')
    try:
        webbrowser.open(Path(file.name).as_uri())
        yield
    finally:
        Path(file.name).unlink(missing_ok=True)

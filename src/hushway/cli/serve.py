"""The verb that opens the workbench."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from hushway.cli.screen import notice
from hushway.errors import HushwayError

_LIBRARIES = ("starlette", "tomlkit", "uvicorn")
_PORT = 8321


def serve(
    places: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PLAN_OR_FOLDER]...",
            help="Plans, or folders in which plans lie.",
            show_default="the current folder",
        ),
    ] = None,
    *,
    port: Annotated[
        int, typer.Option(help="The port to listen on; 0 for any that is free.", min=0, max=65535)
    ] = _PORT,
    host: Annotated[
        str, typer.Option(help="The address to listen on. Others than yours let others ask.")
    ] = "127.0.0.1",
    open_: Annotated[
        bool, typer.Option("--open/--no-open", help="Also open it in the browser.")
    ] = False,
) -> None:
    """Open the workbench: check, price, publish and read releases in a browser."""
    refuse_missing_libraries()
    from hushway.workbench.server import serve as serve_workbench

    with ExitStack() as until_the_end:

        def announce(address: str) -> None:
            # Also when quiet: without it nobody can come in.
            typer.echo(f"Open this address; it lets one browser in, once:\n{address}")
            if open_:
                until_the_end.enter_context(opened_privately(address))

        serve_workbench(places or [Path()], host=host, port=port, announce=announce, notice=notice)


def refuse_missing_libraries() -> None:
    """Refuses to start without the libraries of the workbench.

    Raises:
        HushwayError: Some are not installed; the message says how to do that.
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
def opened_privately(address: str) -> Iterator[None]:
    """Opens an address in the browser without showing it to other users of the machine.

    They can see with which words a program was started, so the browser is given the name of a file
    that only this user can read, and that leads to the address. At the end it is removed.
    """
    import tempfile
    import webbrowser
    from html import escape

    with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as file:
        file.write(f'<meta http-equiv="refresh" content="0; url={escape(address)}">\n')
    try:
        webbrowser.open(Path(file.name).as_uri())
        yield
    finally:
        Path(file.name).unlink(missing_ok=True)

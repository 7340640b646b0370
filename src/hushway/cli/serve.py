"""The command `serve`: opens the workbench."""

from pathlib import Path
from typing import Annotated

import typer

from hushway.cli.console import notice
from hushway.workbench.serve import PORT
from hushway.workbench.serve import serve as serve_workbench


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
    ] = PORT,
    host: Annotated[
        str, typer.Option(help="The address to listen on. Any but 127.0.0.1 lets others in.")
    ] = "127.0.0.1",
    open_: Annotated[
        bool, typer.Option("--open/--no-open", help="Also open it in the browser.")
    ] = False,
) -> None:
    """Open the workbench: check, price, publish and read releases in a browser."""
    # The login link is printed also when quiet: without it nobody can log in.
    serve_workbench(places, port=port, host=host, open_=open_, announce=typer.echo, notice=notice)

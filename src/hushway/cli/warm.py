"""The command `warm`: compiles ahead what a first release would wait for."""

from typing import Annotated

import typer

from hushway.cli.console import say, working
from hushway.families.registry import family_names


def warm(
    release_types: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TYPE]...", help=f"{family_names()}; all by default."),
    ] = None,
) -> None:
    """Compile ahead what the first release would wait for; reads no plan and no rows."""
    from hushway.steward.warm import warm as compile_ahead

    with working() as show:
        names = ", ".join(compile_ahead(release_types, progress=show))
    say(f"Ready: machine code for {names} is kept for these sources and this machine.")

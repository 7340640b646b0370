"""The verb that compiles ahead what a first release would wait for."""

from typing import Annotated

import typer

from hushway.cli.screen import say, working
from hushway.families.registry import family_names


def warm(
    release_types: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TYPE]...", help=f"{family_names()}; all unless said."),
    ] = None,
) -> None:
    """Compile ahead what the first release would wait for; reads no plan and no rows."""
    from hushway.warming.background import Compiling, usual_rehearsals

    rehearsals = usual_rehearsals(release_types or ())
    with working() as show, Compiling(rehearsals) as compiling:
        compiling.wait(show)
    names = ", ".join(name for name, _ in rehearsals)
    say(f"Ready: machine code for {names} is kept for these sources and this machine.")

"""Synthetic taps from a published release."""

from pathlib import Path
from typing import Annotated

import typer

from hushway.cli.screen import say, working


def synthesise(
    release: Annotated[Path, typer.Argument(help="A release folder of the family sequences.")],
    file: Annotated[Path, typer.Argument(help="The Parquet file to write.")],
    *,
    seed: Annotated[int, typer.Option(help="Chooses the times.", min=0)] = 1,
) -> None:
    """Write synthetic taps with plausible times from published sequences; costs no budget."""
    from hushway.families.synthesis import synthesise as write_taps

    with working() as show:
        show("Writing synthetic taps")
        made = write_taps(release, file, seed=seed)
    say(
        f"{made.taps:,} taps of {made.records:,} synthetic records in {made.path}. Times, and "
        "stops beyond published prefixes, are likely ones: nobody measured them."
    )

"""How plans and ledgers are named on the command line, and how they are opened."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushway.cli.screen import notice

if TYPE_CHECKING:
    from hushway.privacy.ledger import Ledger

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, a TOML file.")]
Address = Annotated[
    str, typer.Argument(metavar="LEDGER", help="A plan, a ledger file or postgresql://...")
]


def connect(address: str) -> "Ledger":
    """Opens the ledger named by a plan, a file or a URL; never makes a new one by accident."""
    from hushway.families.load import load_plan
    from hushway.privacy.ledger import Ledger

    url: str | Path = address
    if address.endswith(".toml"):
        url = load_plan(address).ledger_url()
    return Ledger.connect(url, create=False)


def say_cautions(cautions: list[str]) -> None:
    """Says what is worth knowing about a ledger, on standard error."""
    for caution in cautions:
        notice(f"Worth knowing: {caution}")

"""The commands of `hushway`, each a thin face of the function of the same name.

Heavy libraries are imported by the verbs that need them, so that `hushway --help` answers at once.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from hushway import __version__
from hushway.cli.audit import audit
from hushway.cli.console import be_quiet
from hushway.cli.demo import demo
from hushway.cli.evaluate import design, evaluate
from hushway.cli.examples import add_examples
from hushway.cli.init import init
from hushway.cli.keys import keys
from hushway.cli.ledger import ledger
from hushway.cli.log_file import open_log_file
from hushway.cli.plans import check, plan, publish
from hushway.cli.price import price
from hushway.cli.recommend import recommend
from hushway.cli.releases import ask, compare, dossier, revise, series, site, synthesize, verify
from hushway.cli.reproduce import reproduce
from hushway.cli.serve import serve
from hushway.cli.warm import warm

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter

_LONGEST_SENTENCE = 200


class PlainHelp(TyperGroup):
    """Commands listed with the whole first sentence of each; the usual list cuts it short.

    In plain text, without colours: the library that draws boxes takes as long to load as all else.
    """

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Writes one line, or two, for each command."""
        named = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, command.get_short_help_str(limit=_LONGEST_SENTENCE))
                    for name, command in named
                    if command is not None and not command.hidden
                ]
            )


app = typer.Typer(
    name="hushway",
    cls=PlainHelp,
    help="Publish how a city moves without publishing how anyone moves.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(demo)
app.command()(init)
app.command()(check)
app.command()(price)
app.command()(recommend)
app.command()(publish)
app.command()(verify)
app.command()(revise)
app.command()(dossier)
app.command()(ask)
app.command()(series)
app.command()(site)
app.command()(compare)
app.command()(serve)
app.command()(synthesize)
app.command("synthesise", hidden=True)(synthesize)
app.command()(design)
app.command()(evaluate)
app.command()(audit)
app.command()(warm)
app.add_typer(plan, name="plan", cls=PlainHelp)
app.add_typer(ledger, name="ledger", cls=PlainHelp)
app.add_typer(keys, name="keys", cls=PlainHelp)
app.add_typer(reproduce, name="reproduce", cls=PlainHelp)
add_examples(app)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"hushway {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    *,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Say nothing but errors, and what --json answers.")
    ] = False,
    log_file: Annotated[
        Path | None,
        typer.Option(
            "--log-file",
            help="Also write down there when commands begin and end, warnings and errors; never "
            "what is for your screen only.",
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print and exit."),
    ] = False,
) -> None:
    """Publish how a city moves without publishing how anyone moves."""
    del version
    be_quiet(quiet)
    open_log_file(log_file, context)

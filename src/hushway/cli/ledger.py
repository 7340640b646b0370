"""Commands on ledgers: open an account, see what was spent, keep a copy."""

from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushway.cli.console import (
    Address,
    AddressOrSet,
    AsJson,
    PlanFile,
    Step,
    answer_json,
    number,
    say,
    say_cautions,
    table,
    usage_errors,
)

if TYPE_CHECKING:
    from hushway.privacy.ledger import Account
    from hushway.steward.ledger import PeopleStatement, Statement


ledger = typer.Typer(help="Open accounts and see what was spent.", no_args_is_help=True)

_DAY = ["%Y-%m-%d"]
_OUTSIDE = (
    "These sums hold what this ledger knows: not what people lost in other data sets that nobody "
    "declared to be theirs, nor in releases from other ledgers."
)


@ledger.command("open")
def open_account(
    plan: PlanFile,
    *,
    epsilon: Annotated[
        str | None,
        typer.Option(
            help='The budget limit, such as "4" or "1/2"; that of a series is its plan\'s.'
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            help="Makes the budget limit an (epsilon, delta), kept as a rho; the plan's own delta, "
            "if the plan has Gaussian noise."
        ),
    ] = None,
    step: Step = None,
) -> None:
    """Open the account that a plan spends from, with a budget limit that can never be raised."""
    from hushway.steward import ledger as verbs

    with usage_errors():
        account = verbs.open(plan, epsilon=epsilon, delta=delta, step=step)
    say(f"Opened {account.key} with a budget limit of {_limit(account)}.")


@ledger.command("show")
def show(
    ledger: AddressOrSet,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Walk every hash chain; fail if anything was edited.")
    ] = False,
    people: Annotated[
        bool, typer.Option("--people", help="Show what one person may have lost instead.")
    ] = False,
    first: Annotated[
        datetime | None,
        typer.Option("--from", formats=_DAY, help="With --people: first day of the span."),
    ] = None,
    last: Annotated[
        datetime | None,
        typer.Option("--to", formats=_DAY, help="With --people: last day of the span."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show accounts, entries and releases that were charged for but never published."""
    from hushway.steward import ledger as verbs
    from hushway.steward.facts import people_facts, statement_facts

    first_day, last_day = first and first.date(), last and last.date()
    with usage_errors():
        found = verbs.show(ledger, check=check, people=people, first=first_day, last=last_day)
    if isinstance(found, verbs.Statement):
        if as_json:
            answer_json(statement_facts(found))
        else:
            _print_statement(found)
    elif as_json:
        answer_json(people_facts(found))
    else:
        _print_people(found)
    if found.findings:
        raise typer.Exit(1)


@ledger.command("people")
def declare_people(
    ledger: Address,
    people: Annotated[str, typer.Argument(metavar="PEOPLE", help='Such as "metro riders".')],
    datasets: Annotated[
        list[str], typer.Argument(metavar="DATASET...", help="Data sets with these people.")
    ],
) -> None:
    """Declare that data sets hold the same people; show --people then adds up their losses."""
    from hushway.steward import ledger as verbs

    group = verbs.people(ledger, people, datasets)
    say(f"Declared: {group.name} are the people of {', '.join(group.datasets)}.")


@ledger.command("backup")
def backup(
    ledger: Address,
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="A new file for the copy.")],
) -> None:
    """Write a true copy of a ledger file; copying the file itself may miss the latest entries."""
    from hushway.steward import ledger as verbs

    findings = verbs.backup(ledger, target)
    say(f"Wrote {target}: every account, entry and declaration of the ledger.")
    if findings:
        say("The copy equals the ledger, but the ledger is not sound:")
        _say_findings(findings)
        raise typer.Exit(1)


@ledger.command("settle")
def settle(
    plan: PlanFile,
    *,
    abandon: Annotated[
        list[str] | None,
        typer.Option(help="Give up a release that was charged for and of which nothing is left."),
    ] = None,
    restored: Annotated[
        bool,
        typer.Option(
            "--restored",
            help="The ledger was restored from an older copy: charge it again for what it lost.",
        ),
    ] = False,
    release: Annotated[
        list[Path] | None,
        typer.Option(help="With --restored: a release of the plan's account, of any days."),
    ] = None,
    charge: Annotated[
        str | None, typer.Option(help="With --restored: what else was spent, such as 1/2.")
    ] = None,
    step: Step = None,
) -> None:
    """Finish what an interrupted publish has left, or bring a restored ledger up to date."""
    from hushway.steward import ledger as verbs

    with usage_errors():
        verbs.settle(
            plan,
            abandon=abandon or (),
            restored=restored,
            release=release or (),
            charge=charge,
            tell=say,
            step=step,
        )


@ledger.command("export")
def export(
    ledger: AddressOrSet,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", help="A CSV file; standard output if left out.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file if it is an earlier export.")
    ] = False,
) -> None:
    """Write all entries as CSV, hashes included and secrets left out."""
    from hushway.steward import ledger as verbs

    text = verbs.export(ledger, output=output, force=force)
    if output is None:
        typer.echo(text, nl=False)


def _say_findings(findings: list[str]) -> None:
    for finding in findings or ["The ledger is sound: every entry fits its chain."]:
        say(finding)


def _print_statement(found: "Statement") -> None:
    table(
        "Accounts",
        ["data set", "unit", "period", "#limit", "#spent", "#left"],
        [
            [
                account.key.dataset,
                str(account.key.unit),
                account.key.period,
                _limit(account),
                number(account.spent),
                number(account.remaining),
            ]
            for account in found.accounts
        ],
    )
    table(
        "Entries",
        ["when (UTC)", "what", "#amount", "release or account", "days", "hash"],
        [
            [
                f"{entry.at:%Y-%m-%d %H:%M}",
                str(entry.kind),
                number(entry.amount) if entry.amount else "",
                entry.release or str(entry.key),
                str(entry.window or ""),
                entry.hash.removeprefix("sha256:")[:8],
            ]
            for entry in found.entries
        ],
    )
    for pending in found.unpublished:
        say(f"Spent, not published: {pending.release} ({pending.state})")
    if found.findings is not None:
        _say_findings(found.findings)
    say_cautions(found.cautions)


def _limit(account: "Account") -> str:
    from hushway.steward.facts import limit_at_delta

    text = f"{account.budget_limit.measure.symbol} {number(account.budget_limit.amount)}"
    if account.span is not None:
        text += f" in {account.span}; {number(account.lifetime)} ever spent"
    stated = limit_at_delta(account)
    return text if stated is None else f"{text} ({stated})"


def _print_people(found: "PeopleStatement") -> None:
    """Prints a row for each kind of unit in each group of people."""
    from hushway.steward.facts import note_on

    table(
        f"What one of them may have lost, {_span(found.first, found.last)}",
        ["people", "data sets", "unit", "#releases", "#ε", "#ρ", "#all as ρ"],
        [
            [
                group.people.name or "(not declared)",
                ", ".join(group.people.datasets),
                str(lost.unit),
                str(lost.releases),
                *(number(a) if a else "" for a in (lost.epsilon, lost.rho, lost.together)),
            ]
            for group in found.people
            for lost in group.lost
        ],
    )
    notes = {note_on(lost): None for group in found.people for lost in group.lost}
    for note in [*filter(None, notes), _OUTSIDE]:
        say(note)
    if found.findings is not None:
        _say_findings(found.findings)


def _span(first_day: date | None, last_day: date | None) -> str:
    if first_day is None and last_day is None:
        return "ever"
    if last_day is None:
        return f"from {first_day} on"
    return f"up to {last_day}" if first_day is None else f"{first_day} to {last_day}"

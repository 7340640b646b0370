"""The ledger as a bank statement: open an account, see what was spent, keep a copy."""

import csv
import io
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushway.cli.lost import print_lost
from hushway.cli.screen import (
    Address,
    AddressOrSet,
    AsJson,
    PlanFile,
    answer_json,
    connect,
    number,
    say,
    say_cautions,
    table,
)
from hushway.errors import BudgetError
from hushway.facts.ledger import account_facts, entry_facts, limit_at_delta, lost_facts
from hushway.release.folder.new_file import write_new
from hushway.release.untrusted.limits import guarded

if TYPE_CHECKING:
    from hushway.privacy.ledger import Account, Entry


ledger = typer.Typer(help="Open accounts and see what was spent.", no_args_is_help=True)

_DAY = ["%Y-%m-%d"]


@ledger.command("open")
def open_account(
    plan_file: PlanFile,
    *,
    epsilon: Annotated[str, typer.Option(help='The budget limit, such as "4" or "1/2".')],
    delta: Annotated[
        str | None,
        typer.Option(
            help="Makes the budget limit an (epsilon, delta), kept as a rho; the plan's own delta, "
            "if the plan has Gaussian noise."
        ),
    ] = None,
) -> None:
    """Open the account that a plan spends from, with a budget limit that can never be raised."""
    from hushway.families.load import load_plan, prepare
    from hushway.steward.accounts import open_account as open_one

    account = open_one(prepare(load_plan(plan_file)), epsilon=epsilon, delta=delta)
    say(f"Opened {account.key} with a budget limit of {_limit(account)}.")


@ledger.command("show")
def show(
    address: AddressOrSet,
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
    if people:
        _show_people(address, first, last, check=check, as_json=as_json)
        return
    if first or last:
        raise typer.BadParameter("--from and --to belong to --people.")
    with connect(address) as book:
        accounts, entries, pending = book.accounts(), book.entries(), book.unpublished()
        findings = book.check() if check else None
        cautions = [said for said in book.cautions() if said not in (findings or ())]
    if as_json:
        answer_json(
            {
                "accounts": [account_facts(account) for account in accounts],
                "entries": [entry_facts(entry) for entry in entries],
                "unpublished": [found.release for found in pending],
                "findings": findings,
                "cautions": cautions,
            }
        )
    else:
        _print_accounts(accounts)
        _print_entries(entries)
        for found in pending:
            say(f"Spent, not published: {found.release} ({found.state})")
        if findings is not None:
            _say_findings(findings)
        say_cautions(cautions)
    if findings:
        raise typer.Exit(1)


def _show_people(
    address: str, first: datetime | None, last: datetime | None, *, check: bool, as_json: bool
) -> None:
    first_day, last_day = first and first.date(), last and last.date()
    if first_day and last_day and last_day < first_day:
        raise typer.BadParameter("--to is before --from.")
    with connect(address) as book:
        lost = book.lost(first_day=first_day, last_day=last_day)
        findings = book.check() if check else None
    if as_json:
        answer_json(
            {
                "from": first_day,
                "to": last_day,
                "people": [lost_facts(group) for group in lost],
                "findings": findings,
            }
        )
    else:
        print_lost(lost, first_day, last_day)
        if findings is not None:
            _say_findings(findings)
    if findings:
        raise typer.Exit(1)


def _say_findings(findings: list[str]) -> None:
    for finding in findings or ["The ledger is sound: every entry fits its chain."]:
        say(finding)


@ledger.command("people")
def declare_people(
    address: Address,
    people: Annotated[str, typer.Argument(metavar="PEOPLE", help='Such as "metro riders".')],
    datasets: Annotated[
        list[str], typer.Argument(metavar="DATASET...", help="Data sets with these people.")
    ],
) -> None:
    """Declare that data sets hold the same people; show --people then adds up their losses."""
    with connect(address) as book:
        group = book.declare_people(people, datasets)
    say(f"Declared: {group.name} are the people of {', '.join(group.datasets)}.")


@ledger.command("backup")
def backup(
    address: Address,
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="A new file for the copy.")],
) -> None:
    """Write a true copy of a ledger file; copying the file itself may miss the latest entries."""
    from hushway.privacy.ledger import Ledger

    with connect(address) as book:
        book.backup(target)
    with Ledger.connect(target) as copy:
        findings = copy.check()
    say(f"Wrote {target}: every account, entry and declaration of the ledger.")
    if findings:
        say("The copy is true to the ledger, and the ledger is not sound:")
        _say_findings(findings)
        raise typer.Exit(1)


@ledger.command("settle")
def settle(
    plan_file: PlanFile,
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
        typer.Option(help="With --restored: a release of the plan's account and days."),
    ] = None,
    charge: Annotated[
        str | None,
        typer.Option(help="With --restored: what was spent besides, such as 1/2."),
    ] = None,
) -> None:
    """Finish what an interrupted publish has left, or bring a restored ledger up to date."""
    from hushway.families.load import load_plan
    from hushway.steward.settle import settle_plan

    plan = load_plan(plan_file)
    if restored:
        _settle_restored(plan_file, release or [], charge)
        return
    if release or charge:
        raise typer.BadParameter("--release and --charge belong to --restored.")
    with connect(str(plan_file)) as book:
        for sentence in settle_plan(plan.path(plan.release.folder), book):
            say(sentence)
        for lost in abandon or ():
            book.abandon(lost, reason="given up by the steward")
            say(f"{lost} is abandoned; what it cost stays spent.")
        pending = [found for found in book.unpublished() if found.state == "reserved"]
    for found in pending:
        say(
            f"{found.release} was charged for and is not published. If nobody is publishing it "
            "now: "
            f"hushway ledger settle {plan_file} --abandon {found.release}"
        )


def _settle_restored(plan_file: Path, folders: list[Path], charge: str | None) -> None:
    from hushway.families.load import load_plan, prepare
    from hushway.release.plans.values import exact_positive
    from hushway.steward.restore import settle_restored

    try:
        stated = None if charge is None else exact_positive(charge)
    except ValueError as problem:
        raise typer.BadParameter(f"--charge {problem}.") from None
    job = prepare(load_plan(plan_file))
    with connect(str(plan_file)) as book:
        for sentence in settle_restored(job, book, folders=folders, charge=stated):
            say(sentence)


@ledger.command("export")
def export(
    address: AddressOrSet,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", help="A CSV file; standard output if left out.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file if it is an earlier export.")
    ] = False,
) -> None:
    """Write all entries as CSV, hashes included and secrets left out."""
    with connect(address) as book:
        rows = [entry_facts(entry) for entry in book.entries()]
    if not rows:
        raise BudgetError("The ledger has no entries.", advice="Open an account first.")
    text = io.StringIO()
    _write_csv(text, rows)
    if output is None:
        typer.echo(text.getvalue(), nl=False)
        return
    data = text.getvalue().encode()
    first_line = data.partition(b"\n")[0]
    write_new(output, data, replaces=first_line if force else None)


def _write_csv(file: Any, rows: list[dict[str, Any]]) -> None:
    writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: guarded(fact) if isinstance(fact, str) else fact for name, fact in row.items()}
        for row in rows
    )


def _print_accounts(accounts: "list[Account]") -> None:
    rows = [
        [
            account.key.dataset,
            str(account.key.unit),
            account.key.period,
            _limit(account),
            number(account.spent),
            number(account.remaining),
        ]
        for account in accounts
    ]
    table("Accounts", ["data set", "unit", "period", "#limit", "#spent", "#left"], rows)


def _print_entries(entries: "list[Entry]") -> None:
    rows = [
        [
            f"{entry.at:%Y-%m-%d %H:%M}",
            str(entry.kind),
            number(entry.amount) if entry.amount else "",
            entry.release or str(entry.key),
            str(entry.window or ""),
            entry.hash.removeprefix("sha256:")[:8],
        ]
        for entry in entries
    ]
    table("Entries", ["when (UTC)", "what", "#amount", "release or account", "days", "hash"], rows)


def _limit(account: "Account") -> str:
    text = f"{account.budget_limit.measure.symbol} {number(account.budget_limit.amount)}"
    stated = limit_at_delta(account)
    return text if stated is None else f"{text} ({stated})"

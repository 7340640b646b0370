"""The verbs on ledgers: open accounts, show and export what was spent, settle, back up."""

import csv
import io
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

from hushway.errors import BudgetError, OptionsError
from hushway.privacy.accounting import budget_limit_for
from hushway.privacy.ledger import (
    Account,
    Entry,
    Ledger,
    People,
    PeopleLost,
    Unpublished,
)
from hushway.privacy.loss import PureLoss, ZCDPLoss, exact
from hushway.release.folder.new_file import write_new
from hushway.release.job import Job
from hushway.release.plans.sections import AnyPlan, SeriesPlan
from hushway.release.plans.values import exact_positive
from hushway.release.untrusted.limits import guarded
from hushway.steward.facts import entry_facts
from hushway.steward.jobs import PlanLike, job_of, plan_of
from hushway.steward.restore import settle_restored
from hushway.steward.settle import settle_plan

LedgerLike = Ledger | Job | AnyPlan | Path | str
"""A ledger, its file or `postgresql://` address, or a plan that names it."""


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What a ledger holds.

    Attributes:
        accounts: The accounts.
        entries: Everything that was noted, the oldest first.
        unpublished: Releases that were charged for and never published.
        findings: Where hash chains are broken; None if they were not checked.
        cautions: What else is worth knowing, as sentences.
    """

    accounts: list[Account]
    entries: list[Entry]
    unpublished: list[Unpublished]
    findings: list[str] | None
    cautions: list[str]


@dataclass(frozen=True, kw_only=True)
class PeopleStatement:
    """What one person of each group may have lost.

    Attributes:
        first: The first day of the span; None for the beginning.
        last: Its last day; None for the end.
        people: The groups.
        findings: Where hash chains are broken; None if they were not checked.
    """

    first: date | None
    last: date | None
    people: list[PeopleLost]
    findings: list[str] | None


def connect(ledger: LedgerLike) -> AbstractContextManager[Ledger]:
    """Opens a ledger; never creates one.

    Raises:
        BudgetError: There is no such ledger.
        LedgerError: It is out of reach or damaged.
    """
    if isinstance(ledger, Ledger):
        return nullcontext(ledger)
    if isinstance(ledger, Job | AnyPlan) or str(ledger).endswith(".toml"):
        ledger = plan_of(ledger).ledger_url()
    return Ledger.connect(ledger, create=False)


def open(  # noqa: A001  read as hushway.ledger.open
    plan: PlanLike,
    *,
    epsilon: Fraction | str | None = None,
    delta: Fraction | str | None = None,
    step: str | None = None,
) -> Account:
    """Opens the account that a plan spends from, with a budget limit that can never be raised.

    The account is in the currency that the plan can spend: a plan with Gaussian noise needs a rho,
    which is what an epsilon and a delta allow. The delta is the plan's own unless another is given.

    Args:
        plan: A plan's file, a plan, or a prepared job.
        epsilon: The budget limit; of a series it stands in the plan, and may be left out here.
        delta: Makes the limit an (epsilon, delta), kept as a rho, whatever the plan spends.
        step: Of a series, the step; the plan's own if left out.

    Raises:
        BudgetError: The account exists, or its data set or period looks like another one.
        OptionsError: No limit is given, or another one than the plan's series has.
        LedgerError: The ledger is out of reach or damaged, or has lost entries.

    Example:
        >>> hushway.ledger.open("plan.toml", epsilon="4").remaining
        Fraction(4, 1)
    """
    job = job_of(plan, step=step)
    if job.plan.series is not None:
        return _open_series(job, job.plan.series, epsilon=epsilon, delta=delta)
    if epsilon is None:
        raise OptionsError("The account needs a budget limit.", advice="Give one: --epsilon 4")
    spends_rho = any(isinstance(loss, ZCDPLoss) for loss in job.mechanism.losses)
    chosen = job.plan.privacy.delta if delta is None and spends_rho else delta
    small = None if chosen is None else exact(chosen)
    with Ledger.connect(job.plan.ledger_url()) as book:
        return book.open_account(
            job.account,
            PureLoss(exact(epsilon)) if small is None else budget_limit_for(exact(epsilon), small),
            delta=small,
            large_delta=job.plan.privacy.large_delta,
        )


def _open_series(
    job: Job,
    series: SeriesPlan,
    *,
    epsilon: Fraction | str | None,
    delta: Fraction | str | None,
) -> Account:
    """Opens the account of a series; a limit that is typed must be the one of its plan."""
    limit, planned = job.plan.span_limit, job.plan.privacy.delta
    typed = (epsilon is None or exact(epsilon) == series.budget) and (
        delta is None or exact(delta) == planned
    )
    if not typed or limit is None:
        raise OptionsError(
            "The limit of a series stands in its plan, and another one was given.",
            advice="Leave --epsilon and --delta out, and write budget in [series].",
        )
    with Ledger.connect(job.plan.ledger_url()) as book:
        return book.open_account(
            job.account,
            limit,
            delta=job.plan.privacy.delta,
            large_delta=job.plan.privacy.large_delta,
            span=series.span,
        )


def show(
    ledger: LedgerLike,
    *,
    check: bool = False,
    people: bool = False,
    first: date | None = None,
    last: date | None = None,
) -> Statement | PeopleStatement:
    """Returns accounts and entries, or what one person may have lost.

    Args:
        ledger: A ledger, its file or address, or a plan that names it.
        check: Whether every hash chain is checked.
        people: Whether losses of people are returned instead.
        first: With `people`: the first day of the span.
        last: With `people`: its last day.

    Raises:
        BudgetError: There is no such ledger.
        LedgerError: It is out of reach or damaged.
        OptionsError: Days were given without `people`, or in the wrong order.
    """
    if (first or last) and not people:
        raise OptionsError("--from and --to belong to --people.", advice="Add --people.")
    if first and last and last < first:
        raise OptionsError("--to is before --from.", advice="Exchange the two days.")
    with connect(ledger) as book:
        findings = book.check() if check else None
        if people:
            lost = book.lost(first_day=first, last_day=last)
            return PeopleStatement(first=first, last=last, people=lost, findings=findings)
        return Statement(
            accounts=book.accounts(),
            entries=book.entries(),
            unpublished=book.unpublished(),
            findings=findings,
            cautions=[said for said in book.cautions() if said not in (findings or ())],
        )


def people(ledger: LedgerLike, people: str, datasets: Sequence[str]) -> People:
    """Declares that data sets hold the same people; `show` then adds up their losses.

    Args:
        ledger: A ledger, its file or address, or a plan that names it.
        people: What they are called.
        datasets: The data sets.

    Raises:
        BudgetError: There is no such ledger, or the declaration contradicts another.
    """
    with connect(ledger) as book:
        return book.declare_people(people, datasets)


def backup(ledger: LedgerLike, target: Path | str) -> list[str]:
    """Writes a true copy of a ledger file, and checks the copy.

    Copying the file itself may miss the latest entries.

    Returns:
        Where hash chains are broken, in the ledger and so in the copy.

    Raises:
        LedgerError: The ledger cannot be copied.
    """
    with connect(ledger) as book:
        book.backup(target)
    with Ledger.connect(target) as copy:
        return copy.check()


def settle(
    plan: PlanLike,
    *,
    abandon: Sequence[str] = (),
    restored: bool = False,
    release: Sequence[Path] = (),
    charge: Fraction | str | None = None,
    tell: Callable[[str], None] | None = None,
    step: str | None = None,
) -> tuple[str, ...]:
    """Finishes what an interrupted publish left, or brings a restored ledger up to date.

    Args:
        plan: A plan's file, a plan, or a prepared job.
        abandon: Releases that were charged for and of which nothing is left.
        restored: Whether the ledger was restored from an older copy, and is charged again for what
            it lost.
        release: With `restored`: releases of the plan's account, of any days.
        charge: With `restored`: what was spent besides.
        tell: Told each sentence as soon as it is true.
        step: Of a series, the step; the plan's own if left out.

    Returns:
        What was done, one sentence each.

    Raises:
        OptionsError: Options were given that belong to `restored`, or the charge is no number.
        ReleaseError: Something there is not a release that this ledger charged for.
        LedgerError: The ledger is out of reach.
    """
    if (release or charge) and not restored:
        raise OptionsError("--release and --charge belong to --restored.", advice="Add --restored.")
    file = plan if isinstance(plan, Path | str) else "PLAN"
    said: list[str] = []

    def say(sentence: str) -> None:
        said.append(sentence)
        if tell is not None:
            tell(sentence)

    found = plan_of(plan, step=step)
    with connect(found) as book:
        if restored:
            stated = None if charge is None else _charge(charge)
            for sentence in settle_restored(job_of(found), book, folders=release, charge=stated):
                say(sentence)
            return tuple(said)
        for sentence in settle_plan(found.path(found.release.folder), book):
            say(sentence)
        for lost in abandon:
            book.abandon(lost, reason="given up by the steward")
            say(f"{lost} is abandoned; what it cost stays spent.")
        for pending in book.unpublished():
            if pending.state == "reserved":
                say(
                    f"{pending.release} was charged for and is not published. If nobody is "
                    f"publishing it now: hushway ledger settle {file} --abandon {pending.release}"
                )
    return tuple(said)


def _charge(text: Fraction | str) -> Fraction:
    try:
        return exact_positive(text)
    except ValueError as problem:
        raise OptionsError(f"--charge {problem}.", advice="Give a number such as 1/2.") from None


def export(ledger: LedgerLike, *, output: Path | None = None, force: bool = False) -> str:
    """Returns all entries as CSV, hashes included and secrets left out; also writes a file.

    Args:
        ledger: A ledger, its file or address, or a plan that names it.
        output: A file to write, if any.
        force: Whether the file is replaced if it is an earlier export.

    Raises:
        BudgetError: The ledger has no entries.
        ReleaseError: The file exists already or cannot be written.
    """
    with connect(ledger) as book:
        rows = [entry_facts(entry) for entry in book.entries()]
    if not rows:
        raise BudgetError("The ledger has no entries.", advice="Open an account first.")
    text = _csv(rows)
    if output is not None:
        data = text.encode()
        write_new(output, data, replaces=data.partition(b"\n")[0] if force else None)
    return text


def _csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: guarded(fact) if isinstance(fact, str) else fact for name, fact in row.items()}
        for row in rows
    )
    return text.getvalue()

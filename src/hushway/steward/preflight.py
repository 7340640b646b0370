"""Could this be published? Everything that is asked before anything is spent, in one place.

`publish` stops at the first refusal, and `check` tells all of them. Both ask here, so that a plan
which `check` finds good is not refused afterwards.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from hushway.engine.key import BoundingKey
from hushway.errors import BudgetError, HushwayError, PlanError
from hushway.privacy.calibration import refuse_noise_that_cannot_be_drawn
from hushway.privacy.certificate import Certificate
from hushway.privacy.ledger import Account, Ledger
from hushway.privacy.ledger.names import check_note
from hushway.privacy.loss import total
from hushway.privacy.query import Counter
from hushway.privacy.randomness import BitSource
from hushway.privacy.signing import Passphrase, SigningKey, load_signing_key
from hushway.progress import Progress, quiet
from hushway.release.folder.place import check_destination
from hushway.release.job import CountingContext, Job, settings_of
from hushway.steward.certify import check_bounds, draft_certificate
from hushway.tables.check import RowsChecked, refuse_problems

if TYPE_CHECKING:
    from hushway.geography.ground import Ground

COUNTING = "Counting with noise"


@dataclass(frozen=True, kw_only=True)
class Ready:
    """What is there when nothing was refused.

    Attributes:
        key: What signs the release, if the plan names a key.
        bounding: Decides whose rows are kept.
        source: The random bits of the release.
        counter: Who counts the rows, each unit bounded.
        ground: What is drawn under its map, if the plan names public files for it.
        draft: The certificate, as far as it can be written before anything is spent.
    """

    key: SigningKey | None
    bounding: BoundingKey
    source: BitSource
    counter: Counter
    draft: Certificate
    ground: "Ground | None"


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A question whose answer is no.

    Attributes:
        subject: What was asked about: "signing_key", "place", "ground", "rows", "worth" or
            "budget".
        error: Why not.
    """

    subject: str
    error: HushwayError


@dataclass(kw_only=True)
class Preflight:
    """The questions that are asked before anything is spent.

    Privacy:
        Nothing is charged, counted with noise or written. A refusal may tell of the rows: it is for
        the steward's own eyes.

    Attributes:
        job: What would be published.
        ledger: Who spends; None if nobody has opened an account yet, which `publish` refuses.
        source: The random bits of the release.
        passphrase: Asked for the signing key's passphrase if it has one.
        progress: Told in a few words what is being done.
        notes: Whether to look also for what may be wrong with the rows, which takes longer.
        may_open: Whether the account may still have to be opened.
        foresee: Called with what the rows are like; raises if a release is not worth its budget.
        checked: What the rows are like, once they were looked at.
        unopened: Whether the account is still to be opened, once the ledger was asked.
    """

    job: Job
    ledger: Ledger | None
    source: BitSource
    passphrase: Passphrase | None = None
    progress: Progress = quiet
    notes: bool = False
    may_open: bool = False
    foresee: Callable[[RowsChecked], None] | None = None
    checked: RowsChecked | None = None
    unopened: bool = False
    _key: SigningKey | None = None
    _bounding: BoundingKey | None = None
    _counter: Counter | None = None
    _draft: Certificate | None = None
    _ground: "Ground | None" = None

    def refusals(self) -> Iterator[Refusal]:
        """Asks one question after the other, and yields what is refused.

        The certificate is drafted last: its moment, beside that of the ledger's entry, would
        otherwise tell how long the rows took to read.
        """
        questions = (
            ("signing_key", self._ask_signing_key),
            ("place", self._ask_place),
            ("ground", self._ask_ground),
            ("rows", self._ask_rows),
            ("budget", self.ask_budget),
            ("worth", self._ask_worth),
        )
        for subject, ask in questions:
            try:
                ask()
            except HushwayError as error:
                yield Refusal(subject=subject, error=error)

    def ready(self) -> Ready:
        """Returns what was made ready.

        Raises:
            HushwayError: Something is refused; the message says what, and what to do.
        """
        for refusal in self.refusals():
            raise refusal.error
        bounding, counter, draft = self._bounding, self._counter, self._draft
        assert bounding is not None  # noqa: S101  every question was answered
        assert counter is not None  # noqa: S101
        assert draft is not None  # noqa: S101
        return Ready(
            key=self._key,
            bounding=bounding,
            source=self.source,
            counter=counter,
            draft=draft,
            ground=self._ground,
        )

    def _ask_signing_key(self) -> None:
        plan = self.job.plan
        name = plan.release.signing_key
        if name is not None:
            self._key = load_signing_key(plan.path(name), passphrase=self.passphrase)

    def _ask_place(self) -> None:
        job = self.job
        check_destination(job.plan.path(job.plan.release.folder), job.geography.size)
        job.check_writable()

    def _ask_ground(self) -> None:
        plan, bounds = self.job.plan, self.job.bounds
        if not plan.release.ground:
            return
        if bounds is None:
            raise PlanError(
                f"release.ground: a {plan.release_type} release has no map.",
                advice="Leave ground out of the plan.",
            )
        from hushway.tables.ground import read_ground

        self.progress("Reading what is drawn under the map")
        self._ground = read_ground(map(plan.path, plan.release.ground), bounds)

    def ask_budget(self) -> None:
        """Asks what follows from the plan and the ledger alone: certificate, noise and account.

        Raises:
            HushwayError: The plan cannot stand on a certificate, or the account cannot spend on it.
        """
        job = self.job
        check_note("title", job.plan.release.title)
        account = self._account()
        _refuse_other_limit(job, account)
        refuse_noise_that_cannot_be_drawn(job.terms.events)
        self._draft = draft_certificate(job, account, self.source)
        if self.ledger is not None and not self.unopened:
            self.ledger.refuse_reservation(
                job.account, losses=job.mechanism.losses, window=job.window
            )

    def _account(self) -> Account:
        """Returns the account that spends; one that may be opened would have room for the release.

        Raises:
            BudgetError: There is none, and it cannot be opened, or must be open by now.
        """
        job = self.job
        if self.ledger is not None:
            try:
                return self.ledger.account(job.account, job.window)
            except BudgetError:
                if not self.may_open:
                    raise
            self.ledger.refuse_opening(job.account)
            if (obstacle := self.ledger.obstacle(job.account, job.window)) is not None:
                raise BudgetError(obstacle, advice="Choose other days, or another period.")
        self.unopened = True
        return Account(
            key=job.account,
            budget_limit=job.plan.span_limit or total(job.mechanism.losses),
            delta=None,
            spent=Fraction(0),
            lifetime=Fraction(0),
            span=None if job.plan.series is None else job.plan.series.span,
            opened_at=datetime.now(UTC),
        )

    def _ask_worth(self) -> None:
        if self.foresee is not None and self.checked is not None:
            self.foresee(self.checked)
            self.ask_budget()

    def _ask_rows(self) -> None:
        job = self.job
        settings = settings_of(job.plan)
        self.progress(f"Checking the {job.wording.rows}: {job.wording.universe.rstrip('.')}")
        self.checked = job.rows.check(settings, notes=self.notes)
        refuse_problems(self.checked.everything)
        self._bounding = BoundingKey.draw(self.source)
        context = CountingContext(
            key=self._bounding,
            bits=self.source,
            settings=settings,
            progress=lambda share: self.progress(COUNTING, share),
        )
        self._counter = job.rows.counter(context)
        check_bounds(job, self._counter)


def _refuse_other_limit(job: Job, account: Account) -> None:
    """Makes sure that a series spends from an account with the limit that its plan states.

    Raises:
        BudgetError: The account has another one.
    """
    series = job.plan.series
    if series is None or (account.span, account.budget_limit) == (series.span, job.plan.span_limit):
        return
    raise BudgetError(
        f"The plan is a series with a budget for {series.span}, and account {account.key} was "
        "opened with another limit. Nothing was spent.",
        advice="A limit never changes: write step, steps_per_span and budget as the account was "
        "opened, or name another period in [ledger] for days that no account has spent on.",
    )

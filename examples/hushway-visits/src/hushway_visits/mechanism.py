"""The mechanisms: noise on every cell, alone or beside noise on totals by stop and by period."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from hushway import families as hw
from pydantic import Field, model_validator

from hushway_visits.fit import Weights
from hushway_visits.public import StopHours, Totals
from hushway_visits.table import VisitsTable

if TYPE_CHECKING:
    from hushway_visits.plan import VisitsPlan

RELEASE_TYPE = "visits"
_BY: tuple[Literal["stop", "period"], ...] = ("stop", "period")
_ASSUMED_PUBLIC = (
    "The list of stops with their positions.",
    "The window of days, its periods and the time zone.",
    "The mechanism, its parameters and the contribution limit.",
)


class VisitsOptions(hw.Section):
    """The table [mechanism] of a plan."""

    name: str
    noise: Literal["laplace", "gaussian"] = Field(
        default="laplace", description="Which noise is drawn; gaussian needs privacy.delta."
    )

    def spends(self, budget: hw.Loss) -> tuple[hw.Loss, ...]:
        """Returns what each question costs; the whole budget for the cells, unless said."""
        return (budget,)


class LaplaceOptions(VisitsOptions):
    """Noise on every count and nothing else."""

    name: Literal["laplace"] = Field(description="The mechanism.")


class TotalsOptions(VisitsOptions):
    """Noise on every count and on totals, brought together by least squares."""

    name: Literal["totals"] = Field(default="totals", description="The mechanism.")
    share: hw.PositiveShare = Field(
        default=Fraction(1, 5),
        description="The budget share of totals by stop, and as much again of totals by period.",
    )

    @model_validator(mode="after")
    def _leaves_something(self) -> "TotalsOptions":
        if 2 * self.share >= 1:
            raise ValueError("share: leaves nothing for the counts; it must be below 1/2")
        return self

    def spends(self, budget: hw.Loss) -> tuple[hw.Loss, ...]:
        """Returns what the cells and both totals cost: the budget, exactly.

        Privacy:
            The three amounts are fractions that sum to the budget.
        """
        parts = (1 - 2 * self.share, self.share, self.share)
        return tuple(hw.loss_of(budget.measure, budget.amount * part) for part in parts)


@dataclass(frozen=True, kw_only=True)
class VisitCounts(hw.FixedQuestions[StopHours]):
    """Asks for every cell and, for the prices that follow the first, for totals.

    Attributes:
        name: What plans and certificates call it.
        spends: What the cells cost and, if they are measured, totals by stop and by period.
        max_visits: How many visits of one person count; the counter must enforce the same.
    """

    name: str
    spends: tuple[hw.Loss, ...]
    max_visits: int

    @property
    def losses(self) -> tuple[hw.Loss, ...]:
        """The price of each question."""
        return self.spends

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        spends = [str(loss.amount) for loss in self.spends]
        noise = self.spends[0].measure.noise
        return {"noise": noise, "spends": spends, "max_visits": self.max_visits}

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does."""
        joined = "Noisy counts and noisy totals are brought together by weighted least squares."
        rounded = "Counts are rounded to hundredths, and negative ones are published as 0."
        return (rounded,) if len(self.spends) == 1 else (joined, rounded)

    def bound(self, cells: StopHours) -> hw.Bound:
        """Returns how far one person moves the cells: each visit adds 1 to a cell of its own."""
        visits = min(self.max_visits, cells.size)
        return hw.Bound(cells=visits, each=1, total=visits)

    def questions(self, geography: StopHours) -> tuple[hw.Question, ...]:
        """Returns the question for the cells and those for totals."""
        base = hw.Query(name="visits by stop and period", cells=geography)
        totals = (
            hw.PartitionQuery(
                name=f"visits by {by}", base=base, cells=Totals(base=geography, by=by)
            )
            for by in _BY
        )
        return tuple(zip((base, *totals), self.spends, strict=False))

    def variances(self, geography: StopHours) -> tuple[float, ...]:
        """Returns the variance of the noise of each answer: a function of public numbers."""
        events = self.events(geography, self.bound(geography))
        return tuple(float(hw.noise_for(one.loss, one.bound).variance) for one in events)

    def forecast(self, geography: StopHours, bound: hw.Bound) -> tuple[hw.Forecast, ...]:
        """Returns the standard errors of what is published, before negative counts become 0."""
        del bound
        errors = Weights.of(geography.shape, self.variances(geography)).errors
        figures = {
            "visits of a stop in a period": errors.cell,
            "all visits of a stop": errors.stop,
            "all visits of a period": errors.period,
            "all visits": errors.whole,
        }
        return tuple(
            hw.Forecast(figure=figure, standard_error=error, bias=0.0)
            for figure, error in figures.items()
        )

    def fit(self, measured: hw.Measurements, geography: StopHours) -> VisitsTable:
        """Returns the table; what is published follows from the noisy answers alone."""
        answers = [answer.values for answer in measured if isinstance(answer, hw.Measured)]
        return self.table(answers, geography)

    def table(self, answers: list[hw.IntArray], geography: StopHours) -> VisitsTable:
        """Returns the table of noisy answers, for publishers and for those who check them."""
        weights = Weights.of(geography.shape, self.variances(geography))
        return VisitsTable(universe=geography, answers=tuple(answers), weights=weights)


def visit_terms(mechanism: VisitCounts, cells: StopHours, unit: hw.Unit) -> hw.Terms:
    """Returns what a certificate says, from public facts alone."""
    bound = mechanism.bound(cells)
    return hw.terms_of(
        mechanism,
        cells,
        bound,
        release_type=RELEASE_TYPE,
        unit=unit,
        contribution=hw.Contribution(
            words=f"A {unit} counts at most once at a stop in a period, and at most "
            f"{hw.plural(bound.total, 'visit')} of the {unit} count, chosen uniformly at random.",
            limits={"visits": bound.total},
        ),
        assumed_public=_ASSUMED_PUBLIC,
        error="Standard errors: " + hw.listed(mechanism.forecast(cells, bound)) + ".",
    )


@dataclass(frozen=True, kw_only=True)
class VisitsSetting:
    """What a mechanism is made from."""

    plan: "VisitsPlan"


def _from_plan(setting: VisitsSetting) -> VisitCounts:
    options, privacy = setting.plan.mechanism, setting.plan.privacy
    budget = hw.budget_for(privacy.epsilon, privacy.delta, options.noise)
    return VisitCounts(
        name=options.name, spends=options.spends(budget), max_visits=privacy.max_visits
    )


def _from_certificate(name: str, questions: int, parameters: Mapping[str, Any]) -> VisitCounts:
    spends = tuple(hw.stated_losses(parameters))
    if len(spends) != questions or parameters["max_visits"] < 1:
        raise ValueError
    return VisitCounts(name=name, spends=spends, max_visits=parameters["max_visits"])


VisitsSpec = hw.MechanismSpec[VisitsSetting, VisitCounts]

TOTALS = VisitsSpec(
    name="totals",
    options=TotalsOptions,
    from_plan=_from_plan,
    from_certificate=lambda parameters: _from_certificate("totals", 3, parameters),
)
LAPLACE = VisitsSpec(
    name="laplace",
    options=LaplaceOptions,
    from_plan=_from_plan,
    from_certificate=lambda parameters: _from_certificate("laplace", 1, parameters),
)
MECHANISMS = hw.Catalogue(TOTALS, LAPLACE, default=TOTALS.name)

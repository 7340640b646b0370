"""What every mechanism is: public parameters, a step that spends and a step that is free."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from hushway.privacy.accounting import rho_for
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event, noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.query import AnyQuery, CutQuery, PartitionQuery, Query

Geography_contra = TypeVar("Geography_contra", contravariant=True)
Table_co = TypeVar("Table_co", covariant=True)

Measurements = Sequence[Measured | MeasuredSparse]


def noise_of(measured: Measurements) -> dict[str, float]:
    """Returns the standard deviation of the noise in each measurement, by what was asked."""
    return {one.query.name: math.sqrt(one.variance) for one in measured if one.variance}


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What to expect of one figure in a release, computed from public parameters alone.

    Attributes:
        figure: What the figure is, such as "trips of one cell".
        standard_error: Standard deviation of the noise in it.
        bias: What it is too high by on average if nearly all of its cells are empty.
    """

    figure: str
    standard_error: float
    bias: float


class Mechanism(Protocol[Geography_contra, Table_co]):
    """A frozen set of public parameters with one step that spends and one that cannot.

    Privacy:
        `fit` has no curator in its signature: whatever it does is post-processing.
    """

    @property
    def name(self) -> str:
        """The name that plans and certificates use."""
        ...

    @property
    def adaptive(self) -> bool:
        """Whether what is measured depends on earlier noisy answers.

        Then `events` announces the most that may happen: what is charged is a beginning of it,
        alike in everything but the number of cells.
        """
        ...

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values, for the certificate."""
        ...

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What `measure` will spend, in order: the price."""
        ...

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does, as sentences for the certificate."""
        ...

    def events(self, geography: Geography_contra, bound: Bound) -> tuple[Event, ...]:
        """Returns what `measure` will do, if that does not depend on the answers."""
        ...

    def queries(self, geography: Geography_contra) -> tuple[AnyQuery | CutQuery, ...]:
        """Returns the questions that `events` announces; whoever counts must bound them alike."""
        ...

    def forecast(self, geography: Geography_contra, bound: Bound) -> tuple[Forecast, ...]:
        """Returns typical errors without touching rows or budget."""
        ...

    def measure(self, curator: Curator, geography: Geography_contra) -> Measurements:
        """Asks the curator.

        Privacy:
            The only step that spends; it spends exactly `losses`.
        """
        ...

    def fit(self, measured: Measurements, geography: Geography_contra) -> Table_co:
        """Turns noisy answers and public geography into what is published."""
        ...


def budget_for(epsilon: Fraction, delta: Fraction | None, noise: str) -> Loss:
    """Returns what a release costs: a rho if a plan asks for Gaussian noise, or its epsilon."""
    if noise == "gaussian" and delta is not None:
        return ZCDPLoss(rho_for(epsilon, delta))
    return PureLoss(epsilon)


Question = tuple[Query | PartitionQuery, Loss]
"""What is asked, and what is spent on the answer."""


class FixedQuestions(ABC, Generic[Geography_contra]):
    """A mechanism that asks the same questions whatever the answers are, each of them once."""

    adaptive: ClassVar[bool] = False

    @abstractmethod
    def questions(self, geography: Geography_contra) -> tuple[Question, ...]:
        """Returns all questions, in the order in which they are asked."""

    @property
    @abstractmethod
    def losses(self) -> tuple[Loss, ...]:
        """The price of each question."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values: the prices, unless there are others."""
        return {"spends": [str(loss.amount) for loss in self.losses]}

    def forecast(self, geography: Geography_contra, bound: Bound) -> tuple[Forecast, ...]:
        """Returns the noise of each answer, which is what a fit that leaves it alone publishes."""
        return tuple(
            Forecast(
                figure=event.query,
                standard_error=math.sqrt(noise_for(event.loss, event.bound).variance),
                bias=0.0,
            )
            for event in self.events(geography, bound)
        )

    def queries(self, geography: Geography_contra) -> tuple[Query | PartitionQuery, ...]:
        """What is asked."""
        return tuple(query for query, _ in self.questions(geography))

    def bound_of(self, query: Query | PartitionQuery, bound: Bound) -> Bound:
        """Returns how far a unit moves the answer to a question, if it moves cells by a bound."""
        return bound if isinstance(query, Query) else query.bound(bound)

    def events(self, geography: Geography_contra, bound: Bound) -> tuple[Event, ...]:
        """What `measure` will do."""
        return tuple(
            counting_event(query.name, query.cells.size, spend, self.bound_of(query, bound))
            for query, spend in self.questions(geography)
        )

    def measure(self, curator: Curator, geography: Geography_contra) -> Measurements:
        """Asks every question once.

        Privacy:
            Spends the price of each; a unit moves the answer by the counter's bound.
        """
        return tuple(curator.counts(query, spend) for query, spend in self.questions(geography))

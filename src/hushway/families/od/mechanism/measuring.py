"""What OD mechanisms have in common: how they ask, and what certificates and files ask of them."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from hushway.errors import PrivacyError
from hushway.families.od.fit.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured
from hushway.privacy.query import PartitionQuery, Query
from hushway.release.mechanism import FixedQuestions, Forecast, Measurements, Question
from hushway.release.terms import stated_losses


def cells_query(cells: ODCells) -> Query:
    """Returns the question that counts every cell."""
    return Query(name=cells.name, cells=cells)


def feature_query(feature: Feature) -> PartitionQuery:
    """Returns the question that counts every element of a feature."""
    return PartitionQuery(name=feature.name, base=cells_query(feature.universe), cells=feature)


def measure_features(
    curator: Curator, features: Sequence[Feature], spends: Sequence[Loss]
) -> tuple[Measured, ...]:
    """Measures each feature once.

    Privacy:
        Spends the given losses; a record lies in one element of each feature, so a unit moves each
        by no more than the counter's bound.
    """
    return tuple(
        curator.counts(feature_query(feature), spend)
        for feature, spend in zip(features, spends, strict=True)
    )


def check_measurable(cells: ODCells, features: Sequence[Feature], spends: Sequence[Loss]) -> None:
    """Refuses features of another universe, and spends that do not fit them."""
    if len(spends) != len(features) + 1 or any(
        type(one) is not type(other) for one, other in pairwise(spends)
    ):
        raise PrivacyError(
            "Each published total and the cells need one spend, all in one currency.",
            advice="Split one budget with hushway.families.od.mechanism.shares.spends_of.",
        )
    if any(feature.universe.digest != cells.digest for feature in features):
        raise PrivacyError(
            "A published total was made for another universe of cells.",
            advice="Build the published totals from the cells that are measured.",
        )


def _error(spend: Loss, bound: Bound) -> float:
    return math.sqrt(noise_for(spend, bound).variance)


class ODMechanism(FixedQuestions[ODCells]):
    """A mechanism that publishes trips by (period, origin, destination).

    Attributes:
        zeros_left_out: Whether a cell without a row is published as 0.
        learns_errors: Whether standard errors are learnt; otherwise they are those of the noise.
    """

    name: str

    @property
    def cells_event(self) -> int:
        """Which of the events measures the cells; those of the totals follow it."""
        return 0

    @property
    def ladder(self) -> tuple[int, ...]:
        """Limits on trips that questions may name besides the plan's."""
        return ()

    @property
    def caps(self) -> tuple[int, ...]:
        """Limits on trips in one cell that questions may name."""
        return ()

    zeros_left_out: ClassVar[bool] = False
    learns_errors: ClassVar[bool] = False

    @property
    def totals(self) -> tuple[Feature, ...]:
        """The public totals that are measured besides the cells."""
        return ()

    def threshold(self, _cells: ODCells, _bound: Bound) -> int | None:
        """Returns from which noisy count on a cell is published; None if that does not matter."""
        return None

    @property
    @abstractmethod
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does, as sentences for the certificate."""

    @abstractmethod
    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Turns noisy answers into the table that is published."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TotalsMechanism(ODMechanism):
    """A mechanism that measures every cell, and public totals of them.

    Attributes:
        features: The totals; the cells are always measured.
        spends: What each total costs, in order, and what the cells cost, last.
    """

    universe: ODCells
    features: tuple[Feature, ...]
    spends: tuple[Loss, ...]
    zeros_left_out: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_measurable(self.universe, self.features, self.spends)

    @property
    def totals(self) -> tuple[Feature, ...]:
        """The public totals that are measured besides the cells."""
        return self.features

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        return {
            "form": "dense",
            "noise": self.spends[0].measure.noise,
            "published_totals": [
                {"title": f.title, "elements": f.size, "digest": f.digest} for f in self.features
            ],
            "spends": [str(spend.amount) for spend in self.spends],
        }

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The price, in the order of measuring: the cells, then the totals."""
        *margins, last = self.spends
        return (last, *margins)

    def questions(self, geography: ODCells) -> tuple[Question, ...]:
        """What is asked, the cells first."""
        *margins, last = self.spends
        queries = map(feature_query, self.features)
        return ((cells_query(geography), last), *zip(queries, margins, strict=True))

    def forecast(self, geography: ODCells, bound: Bound) -> tuple[Forecast, ...]:
        """Returns the noise of each measurement; a fit makes errors smaller."""
        check_measurable(geography, self.features, self.spends)
        *margins, last = self.spends
        cell = Forecast(figure="one cell", standard_error=_error(last, bound), bias=0.0)
        return (
            cell,
            *(
                Forecast(
                    figure="all trips" if feature.size == 1 else f"one of {feature.title}",
                    standard_error=_error(spend, feature_query(feature).bound(bound)),
                    bias=0.0,
                )
                for feature, spend in zip(self.features, margins, strict=True)
            ),
        )


def stated_totals(
    parameters: Mapping[str, Any], cells: ODCells, features: tuple[Feature, ...]
) -> dict[str, Any]:
    """Returns what a certificate says of a mechanism with totals, as its arguments."""
    return {"universe": cells, "features": features, "spends": tuple(stated_losses(parameters))}

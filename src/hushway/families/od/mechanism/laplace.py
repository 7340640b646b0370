"""The Laplace mechanism for OD tables: noise on every cell, then the nearest count that can be.

The baseline of Fioretto, Lee and Van Hentenryck (AAMAS 2018), with exact integer noise. Negative
values become 0, so over many empty cells the totals come out too high: `forecast` says by how much.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import Field

from hushway.errors import PrivacyError
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.measuring import ODMechanism, cells_query
from hushway.families.od.mechanism.options import MechanismOptions
from hushway.families.od.mechanism.setting import ODSetting, ODSpec, PlannedMechanism
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import expected_above, noise_for, threshold_for
from hushway.privacy.curator import MOST_DENSE_CELLS, Curator
from hushway.privacy.loss import Loss, PureLoss, exact
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.release.mechanism import Forecast, Measurements, Question


class LaplaceOptions(MechanismOptions):
    """Noise on every cell, and nothing else."""

    name: Literal["laplace"] = Field(description="The mechanism.")
    form: Literal["auto", "dense", "sparse"] = Field(
        default="auto", description="Whether every cell is published, or cells above a threshold."
    )
    expected_false: float = Field(
        default=100.0,
        ge=1e-9,
        le=1e9,
        allow_inf_nan=False,
        description="Sparse form only: so many empty cells appear by chance, on average.",
    )


@dataclass(frozen=True, kw_only=True)
class _Laplace(ODMechanism):
    """One question about every cell, for the whole epsilon."""

    spend: PureLoss
    name: str = "laplace"

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The price."""
        return (self.spend,)

    def questions(self, geography: ODCells) -> tuple[Question, ...]:
        """What is asked: every cell, for the whole epsilon."""
        return ((cells_query(geography), self.spend),)


@dataclass(frozen=True, kw_only=True)
class DenseLaplace(_Laplace):
    """Publishes every cell of the universe."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        return {"form": "dense", "epsilon": str(self.spend.epsilon)}

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does."""
        return ("Negative noisy counts are published as 0; all others are published as measured.",)

    def forecast(self, geography: ODCells, bound: Bound) -> tuple[Forecast, ...]:
        """Returns typical errors of a cell, of a period and of the total."""
        variance = float(noise_for(self.spend, bound).variance)
        phantom = _mean_positive_part(float(bound.l1 / self.spend.epsilon))
        return tuple(
            Forecast(
                figure=figure, standard_error=math.sqrt(cells * variance), bias=cells * phantom
            )
            for figure, cells in _figures(geography)
        )

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Publishes the nearest non-negative count of each cell."""
        (answer,) = measured
        assert isinstance(answer, Measured)  # noqa: S101  what `measure` returns
        return ODTable(
            universe=geography,
            cells=np.arange(geography.size, dtype=np.int64),
            counts=np.maximum(answer.values, 0),
            standard_errors=np.full(geography.size, math.sqrt(answer.variance)),
            threshold=None,
        )


@dataclass(frozen=True, kw_only=True)
class SparseLaplace(_Laplace):
    """Publishes the cells measured at or above a threshold, for universes of up to 1e12 cells.

    Attributes:
        expected_false: How many empty cells may reach the threshold on average; sets the threshold.
    """

    expected_false: float

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        return {
            "form": "sparse",
            "epsilon": str(self.spend.epsilon),
            "expected_false": self.expected_false,
        }

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does."""
        return ("Only cells measured at or above the threshold are published, as measured.",)

    def forecast(self, geography: ODCells, bound: Bound) -> tuple[Forecast, ...]:
        """Returns typical errors; the bias is what false cells add, not what hidden ones lack.

        The error of a sum is that of its false cells, and at least that of one true cell.
        """
        variance = float(noise_for(self.spend, bound).variance)
        phantom, spread = self._false_cell(geography, bound)
        return tuple(
            Forecast(
                figure=figure,
                standard_error=math.sqrt(max(variance, cells * spread)),
                bias=cells * phantom,
            )
            for figure, cells in _figures(geography)
        )

    def _false_cell(self, geography: ODCells, bound: Bound) -> tuple[float, float]:
        """Returns mean and variance of what an empty cell adds: Z if Z reaches the threshold."""
        law = noise_for(self.spend, bound)
        threshold = self.threshold(geography, bound)
        share = expected_above(law, geography.size, threshold) / geography.size
        excess = _mean_excess(float(bound.l1 / self.spend.epsilon))
        mean = share * (threshold + excess)
        # The excess over the threshold is geometric: its variance is its mean times (1 + mean).
        square = share * ((threshold + excess) ** 2 + excess * (1 + excess))
        return mean, square - mean**2

    def measure(self, curator: Curator, geography: ODCells) -> Measurements:
        """Measures every cell once; the empty ones are drawn only as far as they show.

        Privacy:
            Spends the whole epsilon on one query; a unit moves it by the counter's bound.
        """
        query = cells_query(geography)
        threshold = self.threshold(geography, curator.bound(query))
        return (curator.counts_above(query, threshold, self.spend),)

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Publishes the cells at or above the threshold."""
        (answer,) = measured
        assert isinstance(answer, MeasuredSparse)  # noqa: S101  what `measure` returns
        shown = answer.reveal()
        return ODTable(
            universe=geography,
            cells=shown.cells,
            counts=shown.values,
            standard_errors=np.full(len(shown.cells), math.sqrt(answer.variance)),
            threshold=answer.threshold,
        )

    def threshold(self, geography: ODCells, bound: Bound) -> int:
        """Returns from which noisy count on a cell is published: a function of public numbers."""
        law = noise_for(self.spend, bound)
        return threshold_for(law, geography.size, self.expected_false)


def refuse_dense(cells: ODCells) -> None:
    """Refuses a table whose every cell cannot have noise of its own, before it is charged for."""
    if cells.size > MOST_DENSE_CELLS:
        raise PrivacyError(
            f"A table of {cells.size:,} cells is too large to draw noise for every one; the most "
            f"is {MOST_DENSE_CELLS:,}.",
            advice="Use fewer periods or coarser places, or a form that leaves out empty cells: "
            'mechanism "laplace" with form = "sparse", or "cbdp" with form = "lazy".',
        )


def od_laplace(
    *, spend: PureLoss, form: str, expected_false: float, cells: ODCells
) -> DenseLaplace | SparseLaplace:
    """Returns the dense or the sparse form; "auto" is dense as long as all cells fit in memory."""
    if form == "auto":
        form = "dense" if cells.size <= MOST_DENSE_CELLS // 8 else "sparse"
    if form == "dense":
        refuse_dense(cells)
        return DenseLaplace(spend=spend)
    if form == "sparse":
        return SparseLaplace(spend=spend, expected_false=expected_false)
    raise PrivacyError(f"There is no form {form!r}.", advice='Choose "dense", "sparse" or "auto".')


def _figures(geography: ODCells) -> tuple[tuple[str, int], ...]:
    return (("one cell", 1), ("one period", geography.pairs), ("all trips", geography.size))


def _mean_positive_part(scale: float) -> float:
    """E max(0, Z) of discrete Laplace noise: a / (1 - a^2)."""
    ratio = math.exp(-1 / scale)
    return ratio / -math.expm1(-2 / scale)


def _mean_excess(scale: float) -> float:
    """E (Z - t | Z >= t) of discrete Laplace noise: a / (1 - a)."""
    return math.exp(-1 / scale) / -math.expm1(-1 / scale)


def _from_plan(setting: ODSetting) -> PlannedMechanism:
    options = setting.plan.mechanism
    assert isinstance(options, LaplaceOptions)  # noqa: S101  the options of this mechanism
    mechanism = od_laplace(
        spend=PureLoss(setting.plan.privacy.epsilon),
        form=options.form,
        expected_false=options.expected_false,
        cells=setting.cells,
    )
    return PlannedMechanism(mechanism=mechanism)


def _from_certificate(
    parameters: Mapping[str, Any], _cells: ODCells, features: tuple[Feature, ...]
) -> DenseLaplace | SparseLaplace:
    if features:
        raise ValueError
    spend = PureLoss(exact(parameters["epsilon"]))
    if parameters["form"] == "dense":
        return DenseLaplace(spend=spend)
    return SparseLaplace(spend=spend, expected_false=float(parameters["expected_false"]))


LAPLACE = ODSpec(
    name="laplace", options=LaplaceOptions, from_plan=_from_plan, from_certificate=_from_certificate
)

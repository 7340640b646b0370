"""What the density family publishes: visits of every area in every bin, with standard errors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.public.cells import DensityUniverse


@dataclass(frozen=True, kw_only=True, eq=False)
class DensityTable:
    """A published density. Safe for anyone to see.

    Attributes:
        universe: The public areas, bins, sites and cover.
        counts: Estimated visits by (area, bin): finite, never negative, rounded to hundredths.
        standard_error: What each is expected to be off by: finite, above 0, rounded likewise.
        cluster: The cluster of each cell of the cover.
        quanta: Parts of a visit that the series was measured in.
        measured_series: Noisy visits by (cluster, bin), in parts of a visit.
        measured_sites: Noisy histogram of one visit of each person by site; None if not measured.
        measured_total: Noisy number of all visits; None if not measured.
        noise: Standard deviation of the noise in each measurement, by what was asked.
        diagnostics: How the fit went, as plain JSON values.
    """

    universe: DensityUniverse
    counts: FloatArray
    standard_error: FloatArray
    cluster: IntArray
    quanta: int
    measured_series: IntArray
    measured_sites: IntArray | None
    measured_total: int | None
    noise: Mapping[str, float]
    diagnostics: Mapping[str, Any] = field(default_factory=dict)

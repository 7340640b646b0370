"""What the links family publishes: people on every road link that shows, with standard errors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.public.universe import LinkUniverse


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkTable:
    """Published counts of links. Safe for anyone to see.

    Attributes:
        universe: The public roads, periods and zones.
        period: Period of each published row, ascending.
        link: Its link, ascending within a period.
        counts: Estimated persons: finite, above 0, rounded to hundredths.
        standard_error: What each is expected to be off by: finite, above 0, rounded likewise.
        speed: Mean speed in km/h, rounded to tenths, NaN where it cannot be told; None if not
            measured.
        speed_error: Standard error of the speed, NaN likewise; None if not measured.
        threshold: Links whose noisy count is below it are not shown.
        class_totals: Noisy persons by group of `ClassZones`; None if not measured.
        noise: Standard deviation of the noise in each measurement, by what was asked.
        diagnostics: How the fit went, as plain JSON values.
    """

    universe: LinkUniverse
    period: IntArray
    link: IntArray
    counts: FloatArray
    standard_error: FloatArray
    speed: FloatArray | None
    speed_error: FloatArray | None
    threshold: float
    class_totals: IntArray | None
    noise: Mapping[str, float]
    diagnostics: Mapping[str, Any] = field(default_factory=dict)

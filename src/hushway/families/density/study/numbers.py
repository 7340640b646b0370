"""What the reproduction of the paper on densities measures."""

from dataclasses import dataclass

from hushway.families.density.study.errors import Box
from hushway.families.density.study.honest import Cost
from hushway.study.interval import Interval


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One number of the reproduction.

    Attributes:
        method: The method.
        epsilon: The budget, as text.
        visits: Most visits of one person.
        figure: What was measured: "mre", "pearson", "rsse", "divergence", "metres", "coverage".
        interval: Mean over runs, with its 95% interval.
        deviation: Standard deviation over runs; NaN for a single one.
    """

    method: str
    epsilon: str
    visits: int
    figure: str
    interval: Interval
    deviation: float


@dataclass(frozen=True, kw_only=True)
class Details:
    """What is drawn, at the paper's main setting.

    Attributes:
        area: The area whose true total is the median.
        series: Its truth, its truth with bounded visits, and its series by each method (run 0).
        error_by_hour: Relative error of every hour by method, mean over areas and runs.
        metres_by_hour: Earth mover's distance of every hour by method, mean over runs.
        mre_by_area: Mean relative error of every area by method, mean over runs.
        pearson_by_area: Correlation of every area by method, mean over runs.
    """

    area: int
    series: dict[str, list[float]]
    error_by_hour: dict[str, list[float]]
    metres_by_hour: dict[str, list[float]]
    mre_by_area: dict[str, list[float]]
    pearson_by_area: dict[str, list[float]]


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """Everything that was measured: internal, computed against the (synthetic) truth.

    Attributes:
        runs: Runs of each method and setting.
        people: People of the city.
        areas: Areas of the city.
        visits: Visits of the city.
        figures: The numbers.
        boxes: By method, budget and "mre" or "pearson": the spread over areas of all runs.
        details: What is drawn.
        costs: What each printed variant claims and costs.
        keys: By method: mean relative errors with other bounded visits and the same noise.
        gains: By variant of the fit and figure: the mean over runs.
    """

    runs: int
    people: int
    areas: int
    visits: int
    figures: tuple[Figure, ...]
    boxes: dict[str, dict[str, dict[str, Box]]]
    details: Details
    costs: dict[str, Cost]
    keys: dict[str, list[float]]
    gains: dict[str, dict[str, Interval]]

    def of(self, method: str, epsilon: str, visits: int, figure: str) -> Figure:
        """Returns one number."""
        wanted = (method, epsilon, visits, figure)
        return next(
            found
            for found in self.figures
            if (found.method, found.epsilon, found.visits, found.figure) == wanted
        )

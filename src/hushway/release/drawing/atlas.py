"""An atlas: a release as a page draws it.

It holds public places and published numbers, and nothing that is not in the release or computed
from it alone. Where the release does not say how far a number may be off, neither does the atlas:
the error is NaN there. `atlas_files` writes it as two files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError, damaged

_EAST, _NORTH = 180.0, 90.0
# Nothing that is counted comes near it, and nothing below it is infinite as a short float.
_MOST: Final = 1e30


@dataclass(frozen=True, kw_only=True)
class AtlasPeriod:
    """A period as a slider shows it.

    Attributes:
        label: The part of the day, such as 08:00.
        group: The day or kind of days, if there are several.
        whole: Whether it is all parts of a day together; these stand behind all others.
    """

    label: str
    group: str | None = None
    whole: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Rings:
    """Outlines of places, ring after ring.

    Attributes:
        lon: Longitudes of the points of all rings in a row.
        lat: Latitudes likewise.
        starts: Where each ring begins; one entry more than rings.
        place: The place of each ring.
    """

    lon: FloatArray
    lat: FloatArray
    starts: IntArray
    place: IntArray

    def __post_init__(self) -> None:
        _check_positions(self.lon, self.lat)
        _check_starts(self.starts, len(self.lon), len(self.place))


@dataclass(frozen=True, kw_only=True, eq=False)
class AtlasPlaces:
    """The places of a release, each at a point.

    Attributes:
        ids: What rows call them.
        names: What people call them.
        lon: Longitude of each point.
        lat: Latitude of each.
        shapes: The outlines, where places are areas.
    """

    ids: Sequence[str]
    names: Sequence[str]
    lon: FloatArray
    lat: FloatArray
    shapes: Rings | None = None

    def __post_init__(self) -> None:
        _check_positions(self.lon, self.lat)
        _check_lengths(self.ids, self.names, self.lon)
        if self.shapes is not None:
            _check_inside(self.shapes.place, len(self.ids))

    def __len__(self) -> int:
        return len(self.ids)


def no_places() -> AtlasPlaces:
    """Returns the places of a release that has none."""
    return AtlasPlaces(ids=(), names=(), lon=np.empty(0), lat=np.empty(0))


@dataclass(frozen=True, kw_only=True, eq=False)
class Numbers:
    """Published numbers, and how far each may be off.

    Attributes:
        count: The numbers; NaN where nothing is published.
        error: The standard error of each; NaN where the release does not tell it.
        meaning: What they are, and what the errors are, in a sentence or two.
    """

    count: NDArray[np.number]
    error: FloatArray
    meaning: str

    def __post_init__(self) -> None:
        _check_lengths(self.count, self.error)
        for column in (self.count, self.error):
            # NaN passes: it stands for what is not published.
            if np.any((column < 0) | (column > _MOST)):
                raise _undrawable("a number or an error is negative or not finite")


@dataclass(frozen=True, kw_only=True, eq=False)
class Flows:
    """Published flows between places, period by period.

    Attributes:
        origin: Where each begins, an index of places.
        destination: Where it ends.
        numbers: How many.
        starts: Where the flows of each period begin; one entry more than periods.
    """

    origin: IntArray
    destination: IntArray
    numbers: Numbers
    starts: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Level:
    """Groups of places with what is published about them together: what is seen from afar.

    Attributes:
        group: The group of each place.
        places: The groups as places, each with the id of one of its places.
        totals: What is known of a group by itself, as `Drawing.totals`.
        flows: Flows between groups, and within each.
    """

    group: IntArray
    places: AtlasPlaces
    totals: Numbers
    flows: Flows


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishedTotal:
    """Sums that have errors of their own, each of a class of pairs of places in one of periods.

    Attributes:
        pair: The class of each pair of places; None if all are one.
        pairs: How many classes of pairs there are.
        period: The class of each period; None if all are one.
        error: The standard error of each sum, those of the first class of periods first.
    """

    pair: IntArray | None
    pairs: int
    period: IntArray | None
    error: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Selectable:
    """What sums over any origins, destinations and periods are made of, with their errors.

    Attributes:
        intrazonal: Whether pairs of a place with itself are numbered too.
        cell: Ascending numbers of cells (period, origin, destination).
        count: The published count of each.
        mean: What is expected of each.
        error: The standard error of each around that.
        effects: By what each has its errors in common: variances of random effects.
        totals: Sums that are known better than their cells tell.
    """

    intrazonal: bool
    cell: IntArray
    count: FloatArray
    mean: FloatArray
    error: FloatArray
    effects: Mapping[str, float]
    totals: Sequence[PublishedTotal]


@dataclass(frozen=True, kw_only=True)
class HiddenLinks:
    """What links that do not show carry together.

    Attributes:
        period: The period.
        label: Which links.
        count: How many on all of them.
        error: The standard error of that.
        km: Kilometres on them.
        km_error: The standard error of that.
    """

    period: int
    label: str
    count: float
    error: float
    km: float
    km_error: float


@dataclass(frozen=True, kw_only=True, eq=False)
class AtlasLinks:
    """Public links of a road network, and what is published about some of them.

    Attributes:
        ids: What rows call the links.
        names: What people call them, or "".
        lon: Longitudes of the points of all courses in a row.
        lat: Latitudes likewise.
        starts: Where each course begins; one entry more than links.
        rank: How large a road is: 0 for the largest.
        link: The link of each published row.
        numbers: How many travel on it.
        row_starts: Where the rows of each period begin; one entry more than periods.
        rest: What the links without a row carry together.
    """

    ids: Sequence[str]
    names: Sequence[str]
    lon: FloatArray
    lat: FloatArray
    starts: IntArray
    rank: IntArray
    link: IntArray
    numbers: Numbers
    row_starts: IntArray
    rest: Sequence[HiddenLinks]

    def __post_init__(self) -> None:
        _check_positions(self.lon, self.lat)
        _check_lengths(self.ids, self.names, self.rank)
        _check_starts(self.starts, len(self.lon), len(self.ids))
        _check_lengths(self.link, self.numbers.count)
        _check_inside(self.link, len(self.ids))


@dataclass(frozen=True, kw_only=True, eq=False)
class Tree:
    """Beginnings of journeys: rows ordered by depth, the largest first among siblings.

    Attributes:
        parent: The row that each continues; -1 for those of one stop.
        place: Its last stop.
        period: The period of its last stop; None where times are not published.
        numbers: How many begin so.
    """

    parent: IntArray
    place: IntArray
    period: IntArray | None
    numbers: Numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawing:
    """What a release type shows of a release.

    Attributes:
        counted: What is counted, such as "trips".
        window: The days that are covered, and how they are counted together, in words.
        periods: The periods, at least one.
        places: The places.
        totals: What is published about a place by itself, row by row of places.
        series: What is published about a period as a whole.
        flows: Flows between places.
        levels: The same between groups of places, from many groups to few.
        selectable: What sums over any of these flows are made of.
        links: Links of roads.
        tree: Beginnings of journeys.
        notes: What a reader must know, one sentence each.
    """

    counted: str
    window: str
    periods: Sequence[AtlasPeriod]
    places: AtlasPlaces = field(default_factory=no_places)
    totals: Numbers | None = None
    series: Numbers | None = None
    flows: Flows | None = None
    levels: Sequence[Level] = ()
    selectable: Selectable | None = None
    links: AtlasLinks | None = None
    tree: Tree | None = None
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        places, periods = len(self.places), len(self.periods)
        if periods == 0:
            raise _undrawable("it has no period")
        if self.totals is not None and len(self.totals.count) != places * periods:
            raise _undrawable("it does not tell every place and period")
        if self.series is not None and len(self.series.count) != periods:
            raise _undrawable("it does not tell every period")
        if self.flows is not None:
            _check_flows(self.flows, places, periods)
        for level in self.levels:
            _check_lengths(level.group, self.places.ids)
            _check_inside(level.group, len(level.places))
            _check_flows(level.flows, len(level.places), periods)
        if self.links is not None:
            _check_starts(self.links.row_starts, len(self.links.link), periods)
        if self.tree is not None:
            _check_tree(self.tree, places, periods)

    @property
    def layer(self) -> str:
        """What the release is about, which a page shows first."""
        for name in ("links", "tree", "flows", "totals"):
            if getattr(self, name) is not None:
                return name
        raise _undrawable("it shows nothing")

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """West, south, east and north of all that is drawn."""
        shapes: tuple[Any, ...] = (self.places, self.places.shapes, self.links)
        drawn = [shape for shape in shapes if shape is not None and len(shape.lon)]
        if not drawn:
            raise _undrawable("it has neither places nor roads")
        lon = np.concatenate([shape.lon for shape in drawn])
        lat = np.concatenate([shape.lat for shape in drawn])
        return float(lon.min()), float(lat.min()), float(lon.max()), float(lat.max())


@dataclass(frozen=True, kw_only=True)
class Download:
    """A file of the release, as it was sealed.

    Attributes:
        path: Where it lies in the release.
        title: What it is.
        size: Its bytes.
        sha256: Their digest.
    """

    path: str
    title: str
    size: int
    sha256: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Atlas:
    """A release as a page draws it.

    Attributes:
        drawing: What it shows.
        facts: Names on its certificate, by what a page calls them; long ones are cut.
        sentences: What its certificate says, likewise, word for word.
        downloads: Its files.
    """

    drawing: Drawing
    facts: Mapping[str, str | None]
    sentences: Mapping[str, str | None]
    downloads: Sequence[Download]


def _check_positions(lon: FloatArray, lat: FloatArray) -> None:
    _check_lengths(lon, lat)
    # Whatever is not a number is not inside, either.
    if not np.all((np.abs(lon) <= _EAST) & (np.abs(lat) <= _NORTH)):
        raise _undrawable("a position is not a longitude and latitude in degrees")


def _check_starts(starts: IntArray, end: int, parts: int) -> None:
    whole = len(starts) == parts + 1 and starts[0] == 0 and starts[-1] == end
    if not whole or np.any(np.diff(starts) < 0):
        raise _undrawable("its parts do not follow each other")


def _check_inside(index: IntArray, size: int) -> None:
    if len(index) and not (int(index.min()) >= 0 and int(index.max()) < size):
        raise _undrawable("a row names something that is not there")


def _check_lengths(*columns: Sequence[Any] | NDArray[Any]) -> None:
    if len({len(column) for column in columns}) > 1:
        raise _undrawable("its columns have different lengths")


def _check_flows(flows: Flows, places: int, periods: int) -> None:
    _check_lengths(flows.origin, flows.destination, flows.numbers.count)
    _check_inside(flows.origin, places)
    _check_inside(flows.destination, places)
    _check_starts(flows.starts, len(flows.origin), periods)


def _check_tree(tree: Tree, places: int, periods: int) -> None:
    rows = len(tree.parent)
    _check_lengths(tree.parent, tree.place, tree.numbers.count)
    _check_inside(tree.place, places)
    if tree.period is not None:
        _check_lengths(tree.parent, tree.period)
        _check_inside(tree.period, periods)
    if np.any((tree.parent < -1) | (tree.parent >= np.arange(rows))):
        raise _undrawable("a journey goes on before it begins")


def _undrawable(reason: str) -> ReleaseError:
    return damaged(f"The release cannot be drawn: {reason}.")

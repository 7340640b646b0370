"""The audits of links, and the mistakes planted in them: the proof that audits can fail."""

from collections.abc import Iterator
from dataclasses import fields, replace
from functools import partial

import ibis.expr.types as ir
import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.mutant_counters import (
    Otherwise,
    only_large,
    unlimited,
    without_limit,
    wrong_bound,
    wrong_input,
    wrong_values,
)
from hushway.auditing.mutant_curators import (
    EXACT_ANSWERS,
    SEEN_ONLY,
    Meddler,
    WrongAnswers,
    exactly,
)
from hushway.auditing.product import Rows, blind, exact_values, remade, sparse, unsplit
from hushway.auditing.suite import Audit, Suite, mutant
from hushway.engine.embedded import EmbeddedSession
from hushway.families.links.audit import counts, ends, limits
from hushway.families.links.audit.stage import KINDS, LinkProduct, LinkStage
from hushway.families.links.fit.missing_shares import Expected
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.mechanism.counts import LinkCounts
from hushway.families.links.public.universe import (
    WEIGHTS,
    ClassZones,
    LeftOutCells,
    LinkUniverse,
    MovementCells,
    SpeedSums,
)
from hushway.families.links.rows.movements import MovementPart, TraceMovements
from hushway.families.links.rows.noisy import (
    EndNoise,
    beyond_discs,
    few_trips,
    joined,
    moved,
    noisy_ends,
    noisy_trips,
    parted,
)
from hushway.families.links.rows.rows import PeoplePositions, PeriodLookup
from hushway.families.links.rows.trips import Trips, split_trips, timed_trips
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured
from hushway.privacy.query import ExactCounts, PartitionQuery, Query
from hushway.privacy.randomness import BitSource
from hushway.progress import ShareProgress
from hushway.release.mechanism import Measurements

_THRESHOLD = 5


class TracesBatchByBatch(TraceMovements):
    """A counter of movements that bounds people in each batch of positions by itself."""

    def _part(self, lookup: PeriodLookup) -> MovementPart:
        part = super()._part(lookup)
        return _BatchByBatch(**{one.name: getattr(part, one.name) for one in fields(part)})


class _BatchByBatch(MovementPart):
    def people(
        self, session: EmbeddedSession, rows: ir.Table, progress: ShareProgress | None
    ) -> Iterator[PeoplePositions]:
        done, batch_rows = 0, session.settings.batch_rows
        for people in super().people(session, rows, progress):
            # Where the engine has begun a new batch, in positions of these people.
            first = -done % batch_rows
            cuts = np.arange(first, len(people.lon), batch_rows)
            start = np.union1d(people.start, cuts)
            person = np.searchsorted(people.start, start[:-1], side="right") - 1
            yield replace(people, start=start, salt=people.salt[person])
            done += len(people.lon)


def by_trip(rows: Rows, _stage: LinkStage, _source: BitSource) -> Rows:
    """Gives every trip a person of its own."""
    return {**rows, "person": np.arange(len(rows["person"]), dtype=np.int64)}


def single_item(_query: Query, bound: Bound) -> Bound:
    """States the bound of a single item, where m count."""
    return Bound(cells=1, each=bound.each, total=bound.each)


def busiest_links(rows: Rows, stage: LinkStage, _source: BitSource) -> Rows:
    """Keeps those m items of a person that most people have."""
    person, code = rows["person"], rows["period"] * stage.universe.items + rows["item"]
    # One row for each item of a person.
    _, first = np.unique(np.stack([person, code]), axis=1, return_index=True)
    people = np.bincount(code[first], minlength=1)
    order = first[np.lexsort((code[first], -people[code[first]], person[first]))]
    ascending = person[order]
    rank = np.arange(len(order)) - np.searchsorted(ascending, ascending)
    kept = order[rank < stage.limits.max_items]
    return {name: column[kept] for name, column in rows.items()}


def paper_ends(rows: Rows, stage: LinkStage, source: BitSource) -> Rows:
    """Moves the ends of trips to nodes nearby, which is all that the paper does."""
    nodes = stage.universe.roads.nodes
    kind, place = np.divmod(rows["item"], nodes)
    assert int(kind.max(initial=0)) < KINDS  # noqa: S101  as many nodes as links
    # To the node before, to the next one or nowhere.
    step = (source.words(len(place)) % np.uint64(3)).astype(np.int64) - 1
    return {**rows, "item": kind * nodes + np.where(kind > 0, (place + step) % nodes, place)}


class AllLeftOut(Otherwise):
    """A counter that counts m items of a person, and all others as left out."""

    def __init__(self, rows: Rows, stage: LinkStage, source: BitSource) -> None:
        wrong = unlimited("max_items")(stage)
        super().__init__(stage.count(rows, source), wrong.count(rows, source))

    def count(self, query: Query) -> ExactCounts:
        """Returns counts; only those of what is left out are wrong."""
        if not isinstance(query.cells, LeftOutCells):
            return self._real.count(query)
        cells = MovementCells(universe=query.cells.universe)
        items = Query(name=cells.name, cells=cells)
        counted, everything = (exact_values(one, items) for one in (self._real, self.wrong))
        # The first weight comes first.
        return sparse(everything - counted)


def weighted_before_noise(query: Query, values: IntArray) -> IntArray:
    """Adds up what is left out with its weights, where noise is for one."""
    assert isinstance(query.cells, LeftOutCells)  # noqa: S101  the only answer that is changed
    weights = np.array(WEIGHTS)[np.arange(len(values)) // query.cells.of_a_weight]
    return np.asarray(values * weights)


def _shared_noise(query: Query | PartitionQuery, noisy: IntArray, exact: IntArray) -> IntArray:
    if not isinstance(query.cells, MovementCells):
        return noisy
    return exact + (noisy - exact)[:1]


SHARED_BY_ITEMS = partial(WrongAnswers, _shared_noise)
"""Gives all links and ends of trips the same noise."""


class _Nothing:
    """No kind of cells."""


class UnboundedSums(Meddler):
    """Adds up classes from all rows instead of those that count."""

    def counts(self, query: Query | PartitionQuery, spend: Loss) -> Measured:
        """Returns noisy counts; sums are those of a counter without a limit."""
        answer = super().counts(query, spend)
        counter, _, _ = self._parts
        if not isinstance(query, PartitionQuery) or not isinstance(counter, Otherwise):
            return answer
        missing = exact_values(counter.wrong, query) - self.exact_values(query)
        return replace(answer, values=answer.values + missing)


class NosyExpectation(LinkCounts):
    """Link counts that are drawn towards the exact sums of their class."""

    def measure(self, curator: Curator, geography: LinkUniverse) -> Measurements:
        """Asks what link counts ask, and looks at the exact sums."""
        measured = super().measure(curator, geography)
        peeped = [
            exactly(curator, answer) if isinstance(answer.query.cells, ClassZones) else answer
            for answer in measured
        ]
        object.__setattr__(self, "_peeped", peeped)
        return measured

    def fit_people(
        self, measured: Measurements, geography: LinkUniverse, expected: Expected | None
    ) -> LinkTable:
        """Fits to the exact sums, and publishes the noisy ones."""
        noisy = super().fit_people(measured, geography, expected)
        peeped = getattr(self, "_peeped", measured)
        fitted = super().fit_people(peeped, geography, expected)
        return replace(fitted, class_totals=noisy.class_totals)


def within_the_radius(people: PeoplePositions, noise: EndNoise) -> Trips:
    """Moves beginnings no further along the road than the radius, as the paper does."""
    trips, true = (
        noisy_trips(people, noise),
        timed_trips(people, noise.roads.plane, noise.splitting),
    )
    traces, radius = trips.traces, noise.ends.radius
    first, began = traces.start[:-1], true.traces.y[true.traces.start[:-1]]
    y = traces.y.copy()
    y[first] = np.clip(y[first], began - radius, began + radius)
    return replace(trips, traces=replace(traces, y=y))


def cleaned_first(people: PeoplePositions, noise: EndNoise) -> Trips:
    """Splits and cleans trips by where their true ends are, and adds noise afterwards."""
    cleaned = split_trips(people, noise.roads.plane, noise.splitting)
    return noisy_ends(few_trips(cleaned, people.salt, noise.ends.max_trips, noise.key), noise)


def around_true_ends(people: PeoplePositions, noise: EndNoise) -> Trips:
    """Leaves out what is near the true ends instead of the noisy ones."""
    trips = timed_trips(people, noise.roads.plane, noise.splitting)
    x, y, inner = parted(trips.traces, noise.ends.step)
    beyond = beyond_discs(inner, (x * noise.ends.step, y * noise.ends.step), noise)
    return joined(trips, moved(x, y, noise.ends, noise.bits), beyond, noise)


def first_by_place(people: PeoplePositions, noise: EndNoise) -> Trips:
    """Takes the first of several positions at one time from west to east, at the ends as well."""
    again = np.zeros(len(people.lon), dtype=np.bool_)
    again[1:] = np.diff(people.since_us) == 0
    again[people.start[1:-1]] = False
    before = np.concatenate([[0], np.cumsum(~again)])
    single = PeoplePositions(
        start=before[people.start],
        salt=people.salt,
        trip=people.trip[~again],
        since_us=people.since_us[~again],
        lon=people.lon[~again],
        lat=people.lat[~again],
    )
    return noisy_trips(single, noise)


MUTANTS = (
    mutant(
        "no contribution limit on items",
        LinkProduct(counter=without_limit("max_items")),
        counts.LONG_DRIVE,
        counts.LONG_DRIVE_LAPLACE,
    ),
    mutant(
        "every trip for itself",
        LinkProduct(counter=wrong_input(rows=by_trip)),
        counts.ONE_HOME,
        counts.LONG_DRIVE,
    ),
    mutant(
        "sensitivity 1 instead of the root of m",
        LinkProduct(counter=wrong_bound(single_item)),
        counts.NINE_ITEMS,
        counts.SHIFT_OF_NINE,
    ),
    mutant(
        "links taken from the data",
        LinkProduct(curator=SEEN_ONLY),
        counts.LONE_ROAD,
        counts.UNUSED_ROAD,
    ),
    mutant(
        "the same noise for every link",
        LinkProduct(curator=SHARED_BY_ITEMS),
        counts.LINK_LESS_ANOTHER,
        counts.FRESH_LINKS,
    ),
    mutant(
        "threshold before noise", LinkProduct(counter=only_large(_THRESHOLD)), counts.AT_THRESHOLD
    ),
    mutant(
        "speeds that are not cut off",
        LinkProduct(counter=without_limit("speed_steps")),
        counts.FAST_AND_SLOW,
        counts.SLOW_DRIVER,
    ),
    mutant(
        "classes added up from all rows",
        # Only the curator asks the wrong counter.
        LinkProduct(
            counter=wrong_input(rows=by_trip, stage=unlimited("max_items"), only=_Nothing),
            curator=UnboundedSums,
        ),
        counts.HUNDRED_LINKS,
    ),
    mutant("all that is left out counted", LinkProduct(counter=AllLeftOut), counts.TWENTY_LEFT_OUT),
    mutant(
        "what is left out weighted before noise",
        LinkProduct(counter=wrong_values(weighted_before_noise, only=LeftOutCells)),
        counts.TWENTY_LEFT_OUT,
    ),
    mutant(
        "the whole budget for every question",
        LinkProduct(mechanism=unsplit, budget=blind),
        counts.ALL_QUESTIONS,
    ),
    mutant(
        "speeds of items that do not count",
        LinkProduct(counter=without_limit("max_items", only=SpeedSums)),
        counts.HUNDRED_SPEEDS,
    ),
    mutant(
        "the busiest links of each person",
        LinkProduct(counter=wrong_input(rows=busiest_links)),
        counts.ONE_TIPS_THE_SCALE,
    ),
    mutant(
        "an expectation from exact sums",
        LinkProduct(curator=Meddler, mechanism=remade(NosyExpectation)),
        counts.SAME_TABLE,
    ),
    mutant(
        "each batch of rows bounded by itself",
        LinkProduct(engine=TracesBatchByBatch),
        counts.SAME_WAY,
    ),
    mutant(
        "ends moved no further than a radius", LinkProduct(ends=within_the_radius), ends.MOVED_HOME
    ),
    mutant(
        "trips cleaned by their true ends",
        LinkProduct(ends=cleaned_first),
        ends.JUST_IN_REACH,
        ends.TWO_AT_ONCE,
    ),
    mutant("discs around the true ends", LinkProduct(ends=around_true_ends), ends.MOVED_HOME),
    mutant(
        "of several last positions the first by place",
        LinkProduct(ends=first_by_place),
        ends.TWO_AT_ONCE,
    ),
    mutant(
        "the paper: noise at the ends of trips, exact counts",
        LinkProduct(
            counter=wrong_input(rows=paper_ends, stage=unlimited("max_items")),
            curator=EXACT_ANSWERS,
        ),
        counts.LONE_ROAD,
        counts.LONG_DRIVE,
        counts.ONE_HOME,
        counts.TWO_ENDS,
        counts.UNUSED_ROAD,
        counts.CLASS_SWAP,
    ),
    *limits.MUTANTS,
)

AUDITS: tuple[Audit[LinkProduct], ...] = (*counts.AUDITS, *limits.AUDITS, *ends.AUDITS)
SUITE = Suite(real=LinkProduct(), audits=AUDITS, mutants=MUTANTS)

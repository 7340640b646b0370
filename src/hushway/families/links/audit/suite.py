"""The audits of the links family, and the proof that they can fail."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import ibis.expr.types as ir
import numpy as np

from hushway.arrays import IntArray
from hushway.audit.mutant_curators import Peeping, SeenOnly
from hushway.audit.product import blind, remade
from hushway.audit.suite import Audit, Mutant, Suite, mutant
from hushway.engine.embedded import EmbeddedSession
from hushway.families.links.audit import ends, measured, whole
from hushway.families.links.audit.mutant_parts import (
    AllLeftOut,
    ExactAnswers,
    NoCap,
    NoClip,
    PaperEnds,
    SensitivityOfOne,
    SharedByItems,
    ThresholdBeforeNoise,
    TripsForPersons,
    TwoCounts,
    UnboundedSums,
    WeightedBeforeNoise,
    WrongMovements,
    unsplit,
)
from hushway.families.links.audit.product import (
    REAL_LINKS,
    DriveRows,
    DriveTerms,
    LinkProduct,
    movements_of_files,
)
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.mechanism.counts import LinkCounts
from hushway.families.links.public.universe import ClassZones, LinkUniverse, SpeedSums
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
from hushway.privacy.curator import Curator
from hushway.privacy.query import ExactCounts, Query
from hushway.privacy.randomness import BitSource
from hushway.progress import ShareProgress
from hushway.release.mechanism import Measurements


class TracesBatchByBatch(TraceMovements):
    """A counter of movements that bounds people in each batch of positions by itself."""

    def _part(self, lookup: PeriodLookup) -> MovementPart:
        part = super()._part(lookup)
        return _BatchByBatch(**vars(part))


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


class SpeedsOfAllItems(NoCap):
    """A counter that counts m items of a person and adds up the speeds of all of them."""

    def count(self, query: Query) -> ExactCounts:
        """Returns counts; only those of speeds are wrong."""
        return (self._wrong if isinstance(query.cells, SpeedSums) else self._real).count(query)


class BusiestLinks(WrongMovements):
    """A counter that keeps those m items of a person that most people have."""

    def _other_rows(self, rows: DriveRows, terms: DriveTerms, _source: BitSource) -> DriveRows:
        code = rows.period * terms.universe.items + rows.item
        # One row for each item of a person.
        _, first = np.unique(np.stack([rows.person, code]), axis=1, return_index=True)
        people = np.bincount(code[first], minlength=1)
        order = first[np.lexsort((code[first], -people[code[first]], rows.person[first]))]
        kept = order[_rank(rows.person[order]) < terms.limits.max_items]
        return DriveRows(
            person=rows.person[kept],
            period=rows.period[kept],
            item=rows.item[kept],
            steps=rows.steps[kept],
        )


class NosyExpectation(LinkCounts):
    """Link counts that are drawn towards the exact sums of their class."""

    def measure(self, curator: Curator, geography: LinkUniverse) -> Measurements:
        """Asks what link counts ask, and peeps at the sums."""
        measured = super().measure(curator, geography)
        # Not a real verb: only the curator of this mutant has it.
        peeped = [
            curator.exactly(answer)  # type: ignore[attr-defined]
            if isinstance(answer.query.cells, ClassZones)
            else answer
            for answer in measured
        ]
        object.__setattr__(self, "_peeped", peeped)
        return measured

    def fit(self, measured: Measurements, geography: LinkUniverse) -> LinkTable:
        """Fits to the exact sums, and publishes the noisy ones."""
        noisy = super().fit(measured, geography)
        fitted = super().fit(getattr(self, "_peeped", measured), geography)
        return replace(fitted, class_totals=noisy.class_totals)


def _rank(ascending: IntArray) -> IntArray:
    """Returns how many of its own kind stand before each of some sorted numbers."""
    first: IntArray = np.searchsorted(ascending, ascending)
    return np.arange(len(ascending)) - first


_AUDITS: tuple[Audit[LinkProduct], ...] = (
    measured.lone_road,
    measured.lone_trip,
    measured.nine_items,
    measured.shift_of_nine,
    measured.long_drive,
    measured.long_drive_laplace,
    measured.one_home,
    measured.two_ends,
    measured.at_threshold,
    measured.one_tips_the_scale,
    measured.link_less_another,
    measured.fresh_links,
    measured.unused_road,
    whole.hundred_links,
    whole.four_of_a_class,
    whole.class_swap,
    whole.slow_driver,
    whole.fast_and_slow,
    whole.hundred_speeds,
    whole.twenty_left_out,
    whole.all_questions,
    whole.published_lone,
    whole.same_table,
    whole.same_way,
    ends.moved_home,
    ends.just_in_reach,
    ends.two_at_once,
)


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


_MUTANTS: tuple[Mutant[LinkProduct], ...] = (
    mutant(
        "no contribution limit on items",
        LinkProduct(counter=NoCap),
        measured.long_drive,
        measured.long_drive_laplace,
    ),
    mutant(
        "every trip for itself",
        LinkProduct(counter=TripsForPersons),
        measured.one_home,
        measured.long_drive,
    ),
    mutant(
        "sensitivity 1 instead of the root of m",
        LinkProduct(counter=SensitivityOfOne),
        measured.nine_items,
        measured.shift_of_nine,
    ),
    mutant(
        "links taken from the data",
        LinkProduct(curator=SeenOnly),
        measured.lone_road,
        measured.unused_road,
    ),
    mutant(
        "the same noise for every link",
        LinkProduct(curator=SharedByItems),
        measured.link_less_another,
        measured.fresh_links,
    ),
    mutant(
        "threshold before noise", LinkProduct(counter=ThresholdBeforeNoise), measured.at_threshold
    ),
    mutant(
        "speeds that are not cut off",
        LinkProduct(counter=NoClip),
        whole.fast_and_slow,
        whole.slow_driver,
    ),
    mutant(
        "classes added up from all rows",
        LinkProduct(counter=TwoCounts, curator=UnboundedSums),
        whole.hundred_links,
    ),
    mutant("all that is left out counted", LinkProduct(counter=AllLeftOut), whole.twenty_left_out),
    mutant(
        "what is left out weighted before noise",
        LinkProduct(counter=WeightedBeforeNoise),
        whole.twenty_left_out,
    ),
    mutant(
        "the whole budget for every question",
        LinkProduct(mechanism=unsplit, budget=blind),
        whole.all_questions,
    ),
    mutant(
        "speeds of items that do not count",
        LinkProduct(counter=SpeedsOfAllItems),
        whole.hundred_speeds,
    ),
    mutant(
        "the busiest links of each person",
        LinkProduct(counter=BusiestLinks),
        measured.one_tips_the_scale,
    ),
    mutant(
        "an expectation from exact sums",
        LinkProduct(curator=Peeping, mechanism=partial(remade, NosyExpectation)),
        whole.same_table,
    ),
    mutant(
        "each batch of rows bounded by itself",
        LinkProduct(files=partial(movements_of_files, engine=TracesBatchByBatch)),
        whole.same_way,
    ),
    mutant(
        "ends moved no further than a radius", LinkProduct(ends=within_the_radius), ends.moved_home
    ),
    mutant(
        "trips cleaned by their true ends",
        LinkProduct(ends=cleaned_first),
        ends.just_in_reach,
        ends.two_at_once,
    ),
    mutant("discs around the true ends", LinkProduct(ends=around_true_ends), ends.moved_home),
    mutant(
        "of several last positions the first by place",
        LinkProduct(ends=first_by_place),
        ends.two_at_once,
    ),
    mutant(
        "the paper: noise at the ends of trips, exact counts",
        LinkProduct(counter=PaperEnds, curator=ExactAnswers),
        measured.lone_road,
        measured.long_drive,
        measured.one_home,
        measured.two_ends,
        measured.unused_road,
        whole.class_swap,
    ),
)

SUITE = Suite(real=REAL_LINKS, audits=_AUDITS, mutants=_MUTANTS)

"""The audits of the links family, and the proof that they can fail."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import ibis.expr.types as ir
import numpy as np
from ibis.backends.duckdb import Backend

from hushway.arrays import IntArray
from hushway.audit.mutant_curators import Peeping, SeenOnly
from hushway.audit.product import blind, remade
from hushway.audit.suite import Audit, Mutant, Suite
from hushway.families.links.audit import ends as links_ends
from hushway.families.links.audit import measured as links_measured
from hushway.families.links.audit import whole as links_whole
from hushway.families.links.audit.mutant_parts import (
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
from hushway.families.links.mechanism.counts import LinkCounts
from hushway.families.links.mechanism.fit import LinkTable
from hushway.families.links.public.universe import ClassZones, LinkUniverse, SpeedSums
from hushway.families.links.rows.movements import TraceMovements
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
from hushway.families.links.rows.rows import PeoplePositions
from hushway.families.links.rows.trips import Trips, split_trips, timed_trips
from hushway.privacy.curator import Curator
from hushway.privacy.query import ExactCounts, Query
from hushway.privacy.randomness import BitSource
from hushway.release.mechanism import Measurements


class TracesBatchByBatch(TraceMovements):
    """A counter of movements that bounds people in each batch of positions by itself."""

    def _people(self, backend: Backend, rows: ir.Table) -> Iterator[PeoplePositions]:
        done = 0
        for people in super()._people(backend, rows):
            # Where the engine has begun a new batch, in positions of these people.
            first = -done % self._settings.batch_rows
            cuts = np.arange(first, len(people.lon), self._settings.batch_rows)
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
    links_measured.lone_road,
    links_measured.lone_trip,
    links_measured.nine_items,
    links_measured.shift_of_nine,
    links_measured.long_drive,
    links_measured.long_drive_laplace,
    links_measured.one_home,
    links_measured.two_ends,
    links_measured.at_threshold,
    links_measured.one_tips_the_scale,
    links_measured.link_less_another,
    links_measured.fresh_links,
    links_measured.unused_road,
    links_whole.hundred_links,
    links_whole.four_of_a_class,
    links_whole.class_swap,
    links_whole.slow_driver,
    links_whole.fast_and_slow,
    links_whole.hundred_speeds,
    links_whole.all_questions,
    links_whole.published_lone,
    links_whole.same_table,
    links_whole.same_way,
    links_ends.moved_home,
    links_ends.just_in_reach,
    links_ends.two_at_once,
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
    Mutant(
        name="no cap on items",
        product=LinkProduct(counter=NoCap),
        audits=(links_measured.long_drive, links_measured.long_drive_laplace),
    ),
    Mutant(
        name="every trip for itself",
        product=LinkProduct(counter=TripsForPersons),
        audits=(links_measured.one_home, links_measured.long_drive),
    ),
    Mutant(
        name="sensitivity 1 instead of the root of m",
        product=LinkProduct(counter=SensitivityOfOne),
        audits=(links_measured.nine_items, links_measured.shift_of_nine),
    ),
    Mutant(
        name="links taken from the data",
        product=LinkProduct(curator=SeenOnly),
        audits=(links_measured.lone_road, links_measured.unused_road),
    ),
    Mutant(
        name="the same noise for every link",
        product=LinkProduct(curator=SharedByItems),
        audits=(links_measured.link_less_another, links_measured.fresh_links),
    ),
    Mutant(
        name="threshold before noise",
        product=LinkProduct(counter=ThresholdBeforeNoise),
        audits=(links_measured.at_threshold,),
    ),
    Mutant(
        name="speeds that are not cut off",
        product=LinkProduct(counter=NoClip),
        audits=(links_whole.fast_and_slow, links_whole.slow_driver),
    ),
    Mutant(
        name="classes added up from all rows",
        product=LinkProduct(counter=TwoCounts, curator=UnboundedSums),
        audits=(links_whole.hundred_links,),
    ),
    Mutant(
        name="the whole budget for every question",
        product=LinkProduct(mechanism=unsplit, budget=blind),
        audits=(links_whole.all_questions,),
    ),
    Mutant(
        name="speeds of items that do not count",
        product=LinkProduct(counter=SpeedsOfAllItems),
        audits=(links_whole.hundred_speeds,),
    ),
    Mutant(
        name="the busiest links of each person",
        product=LinkProduct(counter=BusiestLinks),
        audits=(links_measured.one_tips_the_scale,),
    ),
    Mutant(
        name="an expectation from exact sums",
        product=LinkProduct(curator=Peeping, mechanism=partial(remade, NosyExpectation)),
        audits=(links_whole.same_table,),
    ),
    Mutant(
        name="each batch of rows bounded by itself",
        product=LinkProduct(files=partial(movements_of_files, engine=TracesBatchByBatch)),
        audits=(links_whole.same_way,),
    ),
    Mutant(
        name="ends moved no further than a radius",
        product=LinkProduct(ends=within_the_radius),
        audits=(links_ends.moved_home,),
    ),
    Mutant(
        name="trips cleaned by their true ends",
        product=LinkProduct(ends=cleaned_first),
        audits=(links_ends.just_in_reach, links_ends.two_at_once),
    ),
    Mutant(
        name="discs around the true ends",
        product=LinkProduct(ends=around_true_ends),
        audits=(links_ends.moved_home,),
    ),
    Mutant(
        name="of several last positions the first by place",
        product=LinkProduct(ends=first_by_place),
        audits=(links_ends.two_at_once,),
    ),
    Mutant(
        name="the paper: noise at the ends of trips, exact counts",
        product=LinkProduct(counter=PaperEnds, curator=ExactAnswers),
        audits=(
            links_measured.lone_road,
            links_measured.long_drive,
            links_measured.one_home,
            links_measured.two_ends,
            links_measured.unused_road,
            links_whole.class_swap,
        ),
    ),
)

SUITE = Suite(real=REAL_LINKS, audits=_AUDITS, mutants=_MUTANTS)

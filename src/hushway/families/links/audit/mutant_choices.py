"""Mutants of links that choose or expect by what they should not look at."""

from dataclasses import fields, replace

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.exact import dense
from hushway.audit.mutant_curators import Meddler
from hushway.families.links.audit.mutant_parts import NoCap, WrongMovements
from hushway.families.links.audit.product import DriveTerms
from hushway.families.links.audit.toy import DriveRows
from hushway.families.links.mechanism.counts import LinkCounts
from hushway.families.links.mechanism.table import LinkTable
from hushway.families.links.public.universe import ClassZones, LinkUniverse, SpeedSums
from hushway.privacy.curator import Curator
from hushway.privacy.measured import Measured
from hushway.privacy.query import ExactCounts, PartitionQuery, Query
from hushway.privacy.randomness import BitSource
from hushway.release.mechanism import Measurements


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


class Peeping(Meddler):
    """A curator that tells exact counts."""

    __slots__ = ()

    def exactly(self, answer: Measured) -> Measured:
        """Returns an answer without its noise."""
        query = answer.query
        assert isinstance(query, Query | PartitionQuery)  # noqa: S101  what links are asked
        return replace(answer, values=dense(self._exact(query), query))


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


def nosy_expectation(mechanism: LinkCounts) -> LinkCounts:
    """Returns the same link counts, made to peep."""
    return NosyExpectation(
        **{field.name: getattr(mechanism, field.name) for field in fields(mechanism)}
    )


def _rank(ascending: IntArray) -> IntArray:
    """Returns how many of its own kind stand before each of some sorted numbers."""
    first: IntArray = np.searchsorted(ascending, ascending)
    return np.arange(len(ascending)) - first

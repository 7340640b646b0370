"""Wrong parts of a release: counters, sources, budgets and splits that mutants are made with."""

from dataclasses import replace
from typing import Any

import numpy as np

from hushway.arrays import WordArray
from hushway.audit.mutant_counters import OnlyLarge, Otherwise, Wrapped
from hushway.audit.mutant_readers import Summed, files_of
from hushway.audit.product import remade
from hushway.families.od.audit.product import Fitted, Terms, count_in_memory
from hushway.families.od.audit.sparse import THRESHOLD
from hushway.families.od.audit.toy import Trips
from hushway.families.od.mechanism.cbdp import CBDP
from hushway.families.od.mechanism.learned import Learned
from hushway.families.od.mechanism.measuring import cells_query
from hushway.families.od.mechanism.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.duckdb import DuckDBTrips, TripsSource
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss, total
from hushway.privacy.query import Counter, Query
from hushway.privacy.randomness import BitSource, os_source
from hushway.release.mechanism import Measurements

_NO_CAP = 10**6
_LOW_BITS = (1 << 32) - 1


class _Counter(Wrapped):
    """The real counter, for a mutant to get one thing wrong about."""

    def __init__(self, trips: Trips, terms: Terms, source: BitSource) -> None:
        super().__init__(count_in_memory(trips, terms, source))


class SensitivityOfOne(_Counter):
    """A counter that caps at m trips and says that a person has only one."""

    def bound(self, query: Query) -> Bound:  # noqa: ARG002  wrong for every query
        """Returns the wrong bound."""
        return Bound(cells=1, each=1, total=1)


class NoCap(Otherwise):
    """A counter that says m trips and counts all of them."""

    def __init__(self, trips: Trips, terms: Terms, source: BitSource) -> None:
        uncapped = replace(terms, max_trips=_NO_CAP)
        super().__init__(*(count_in_memory(trips, each, source) for each in (terms, uncapped)))


class LowBitsOnly(_Counter):
    """A counter that tells people apart by the low 32 bits of their numbers."""

    def __init__(self, trips: Trips, terms: Terms, source: BitSource) -> None:
        super().__init__(replace(trips, person=trips.person & _LOW_BITS), terms, source)


class ThresholdBeforeNoise(OnlyLarge):
    """A counter that drops small exact counts, so that the noise comes too late."""

    def __init__(self, trips: Trips, terms: Terms, source: BitSource) -> None:
        super().__init__(count_in_memory(trips, terms, source), THRESHOLD)


class SharedNoise:
    """A source that begins again at every call, so that all measurements get the same noise."""

    name = "a source that repeats itself"
    private = False

    def __init__(self) -> None:
        self._words = np.empty(0, dtype=np.uint64)

    def words(self, count: int) -> WordArray:
        """Returns the same words as ever, and new ones only beyond them."""
        missing = count - len(self._words)
        if missing > 0:
            self._words = np.concatenate([self._words, os_source().words(missing)])
        return self._words[:count].copy()


def no_split(spend: PureLoss, measurements: int) -> tuple[PureLoss, ...]:
    """Gives the whole spend to each of several measurements."""
    return (spend,) * measurements


class NosyWhole(CBDP):
    """Counts made whole so that they sum to the exact number of trips."""

    def measure(self, curator: Curator, geography: ODCells) -> Measurements:
        """Measures what is to be measured, and peeps at the total."""
        # Not a real verb: only the curator of this mutant has it.
        exact = curator.exact(cells_query(geography)).values.sum()  # type: ignore[attr-defined]
        object.__setattr__(self, "_peeped", exact)
        return super().measure(curator, geography)

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Fits, and puts what is missing into the largest count."""
        table = super().fit(measured, geography)
        exact = getattr(self, "_peeped", None)
        if exact is None or not len(table.counts):
            return table
        counts = table.counts.copy()
        counts[np.argmax(counts)] += exact - counts.sum()
        return replace(table, counts=np.maximum(counts, 0))


def wholly_nosy(mechanism: Fitted) -> Fitted:
    """Returns the same mechanism, made to peep, if it can."""
    return remade(NosyWhole, mechanism) if isinstance(mechanism, CBDP) else mechanism


class _Peeper(Learned):
    """A table that learns, whose fit has the exact counts at hand."""

    def measure(self, curator: Curator, geography: ODCells) -> Measurements:
        """Measures what is to be measured, and peeps at all cells."""
        measured = super().measure(curator, geography)
        # Not a real verb: only the curator of this mutant has it.
        exact = curator.exactly(measured[0])  # type: ignore[attr-defined]
        object.__setattr__(self, "_peeped", exact)
        return measured


class NosyLearner(_Peeper):
    """What to expect and how far counts stray, learnt from the counts themselves."""

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Fits with cells that have no noise."""
        cells, *sums = measured
        return super().fit((getattr(self, "_peeped", cells), *sums), geography)


class HonestToAFault(_Peeper):
    """Standard errors that are by how much each count is off."""

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Fits, and tells what nobody may know."""
        table = super().fit(measured, geography)
        exact = getattr(self, "_peeped", None)
        if exact is None:
            return table
        off = np.abs(table.counts - exact.values[table.cells])
        return replace(table, standard_errors=off.astype(np.float64))


def nosy_learner(mechanism: Fitted) -> Fitted:
    """Returns the same mechanism, made to learn from exact counts, if it learns."""
    return remade(NosyLearner, mechanism) if isinstance(mechanism, Learned) else mechanism


def honest_to_a_fault(mechanism: Fitted) -> Fitted:
    """Returns the same mechanism, made to publish its true errors, if it learns them."""
    return remade(HonestToAFault, mechanism) if isinstance(mechanism, Learned) else mechanism


def unsplit(mechanism: Fitted) -> Fitted:
    """Gives the whole budget of a mechanism to each of its measurements."""
    return replace(mechanism, spends=(total(mechanism.spends),) * len(mechanism.spends))


def trips_file_by_file(*, source: TripsSource, **options: Any) -> Counter:
    """Returns a counter of trips that bounds people in each file by itself."""
    return Summed([DuckDBTrips(source=one, **options) for one in files_of(source)])

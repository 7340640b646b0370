"""What tables that learn must not give away, and the mistakes that their audits must catch."""

from dataclasses import replace

import numpy as np

from hushway.auditing.cases import cases_of
from hushway.auditing.mutant_curators import Meddler, exactly
from hushway.auditing.product import remade
from hushway.auditing.suite import mutant
from hushway.families.od.audit import fitted
from hushway.families.od.audit.fitted import LEARNED, LEARNED_LAZILY
from hushway.families.od.audit.stage import ODProduct
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.learned import Learned
from hushway.families.od.public.cells import ODCells
from hushway.privacy.curator import Curator
from hushway.release.mechanism import Measurements

ONE_TRIP = fitted.one_trip(LEARNED)
ONE_TRIP_LAZILY = fitted.one_trip(LEARNED_LAZILY)
MANY_TRIPS = fitted.many_trips(LEARNED)
ONE_TRIP_GAUSSIAN = fitted.one_trip_gaussian(LEARNED)
SAME_TABLE = fitted.same_table(LEARNED)
SAME_TABLE_LAZILY = fitted.same_table(LEARNED_LAZILY)

AUDITS = cases_of(globals())


class _Peeper(Learned):
    """A table that learns, whose fit has the exact counts at hand."""

    def measure(self, curator: Curator, geography: ODCells) -> Measurements:
        """Measures what is to be measured, and looks at the exact counts of all cells."""
        measured = super().measure(curator, geography)
        object.__setattr__(self, "_peeped", exactly(curator, measured[0]))
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


MUTANTS = (
    mutant(
        "learning from exact counts",
        ODProduct(curator=Meddler, mechanism=remade(NosyLearner)),
        SAME_TABLE,
        SAME_TABLE_LAZILY,
    ),
    mutant(
        "errors that are the true ones",
        ODProduct(curator=Meddler, mechanism=remade(HonestToAFault)),
        SAME_TABLE,
        SAME_TABLE_LAZILY,
    ),
)

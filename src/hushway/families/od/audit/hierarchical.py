"""What hierarchical tables must not give away, and the mistake that their audits must catch."""

from hushway.auditing.cases import cases_of
from hushway.auditing.mutant_curators import PRUNED_EXACTLY
from hushway.auditing.suite import mutant
from hushway.families.od.audit import fitted
from hushway.families.od.audit.fitted import TREE
from hushway.families.od.audit.stage import ODProduct

ONE_TRIP = fitted.one_trip(TREE)
MANY_TRIPS = fitted.many_trips(TREE)
PUBLISHED_TRIP = fitted.published_trip(TREE)
PUBLISHED_TRIPS = fitted.published_trips(TREE)
SAME_TABLE = fitted.same_table(TREE)

AUDITS = cases_of(globals())
MUTANTS = (mutant("pruning by exact counts", ODProduct(curator=PRUNED_EXACTLY), PUBLISHED_TRIP),)

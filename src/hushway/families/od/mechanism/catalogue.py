"""The mechanisms of OD tables. A new one is a file of its own and one more line here."""

from hushway.families.od.mechanism.cbdp import CONSTRAINT_BASED
from hushway.families.od.mechanism.hierarchical import HIERARCHICAL
from hushway.families.od.mechanism.laplace import LAPLACE
from hushway.families.od.mechanism.learned import LEARNED_TABLE
from hushway.release.catalogue import Catalogue

MECHANISMS = Catalogue(
    LEARNED_TABLE, LAPLACE, HIERARCHICAL, CONSTRAINT_BASED, default=LEARNED_TABLE.name
)

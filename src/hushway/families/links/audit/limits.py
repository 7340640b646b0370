"""What a limit that is chosen must not give away, and the mistakes that its audits must catch.

How many people have how many items is asked of all corners together, so one release is one run.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.agreement import Replayed
from hushway.auditing.cases import Case, Shifts, cases_of, never_differs
from hushway.auditing.harness import evidence, in_thousandths
from hushway.auditing.mutant_counters import wrong_answers, wrong_values
from hushway.auditing.mutant_curators import Meddler, exactly
from hushway.auditing.product import Product, remade
from hushway.auditing.suite import mutant
from hushway.families.links.audit.stage import Drive, Drives, LinkProduct, LinkStage, staged
from hushway.families.links.mechanism.catalogue import limits_of
from hushway.families.links.mechanism.counts import link_counts
from hushway.families.links.mechanism.people import LinkPeople
from hushway.families.links.public.universe import (
    CHOICES,
    ITEM_LADDER,
    LinkUniverse,
    MovementCells,
    MovementLimits,
)
from hushway.privacy.contribution import UnitsByRecords
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.release.mechanism import Measurements

_BRIEF, _SLOW = Fraction(1, 4), Fraction(1, 40)
# Twice the least limit.
_ITEMS: Final = 16
_EVERY_LINK: Drives = tuple(Drive(link=link) for link in range(_ITEMS))


def _chosen(limits: MovementLimits, spend: Loss) -> LinkPeople:
    return LinkPeople(planned=link_counts(limits, budget=spend))


def _staged(product: Product, epsilon: Fraction, *, corners: int = 1) -> LinkStage:
    stage = staged(product, epsilon, most=1, corners=corners, links=_ITEMS)
    return replace(stage, limits=limits_of("auto"), make=_chosen)


def _classes(stage: LinkStage, curator: Curator) -> IntArray:
    """Returns how much the class of somebody's items and the one below speak for that person."""
    (query, _), *_ = stage.mechanism.questions(stage.universe)
    answer = curator.counts(query, stage.spend)
    own = ITEM_LADDER.index(_ITEMS) + 1
    return in_thousandths([evidence(answer.values[own - 2 : own], answer.event, 1).sum()])


def _least_limit(stage: LinkStage, curator: Curator) -> IntArray:
    """Returns the noisy number of persons on all links, within the least limit, by corner."""
    cells = MovementCells(universe=stage.universe, most=CHOICES[0])
    answer = curator.counts(Query(name=cells.name, cells=cells), stage.spend)
    return np.asarray(stage.rings.by_corner(cells, answer.values)[:, :_ITEMS].sum(axis=1))


def _other_limit(stage: LinkStage, curator: Curator) -> IntArray:
    """Returns whether the limit is another for the same noisy people, and nobody behind them."""
    measured = stage.measured(curator)
    again = Replayed(stage.opened(()), measured)
    stage.mechanism.measure(again, stage.universe)
    one, other = measured[1].query, again.asked[1][0]
    return np.array([one.cells.digest != other.cells.digest], np.int64)


ONE_CLASS = Case(
    f"limits: somebody with {_ITEMS} items is in one class",
    "the evidence of that class and of the one below, in thousandths,",
    stage=_staged,
    look=_classes,
    one=_EVERY_LINK,
    claim=Shifts(),
    effort=_BRIEF,
)
WITHIN_A_CHOICE = Case(
    f"limits: {_ITEMS} links of one person fit rho, within the least limit to choose from",
    "the noisy counts, added up over all links,",
    stage=partial(_staged, corners=200),
    look=_least_limit,
    one=_EVERY_LINK,
    claim=Shifts(),
)
SAME_LIMIT = Case(
    "limits: the same noisy people, the same limit",
    "limits that are others, with people and without",
    stage=_staged,
    look=_other_limit,
    one=tuple(Drive(link=link, person=person) for person in range(2_000) for link in range(_ITEMS)),
    claim=never_differs,
    effort=_SLOW,
)

AUDITS = cases_of(globals())


def in_two_classes(_query: Query, values: IntArray) -> IntArray:
    """Counts people in the class of their number of items, and in the one below it."""
    return np.asarray(values + np.append(values[1:], 0))


def twice_the_limit(counter: Counter, query: Query) -> ExactCounts:
    """Counts twice as many items of a person as the question says."""
    cells = query.cells
    assert isinstance(cells, MovementCells)  # noqa: S101  the only answer that is changed
    return counter.count(Query(name=query.name, cells=replace(cells, most=CHOICES[1])))


class NosyLimit(LinkPeople):
    """Link counts whose limit is chosen by exact people by their items."""

    def measure(self, curator: Curator, geography: LinkUniverse) -> Measurements:
        """Asks how many items people have, and goes on with the limit for the exact ones."""
        first = curator.counts(*self.questions(geography)[0])
        nosy = self.settled((exactly(curator, first),))
        return (first, *nosy.chosen.measure(curator, geography))


MUTANTS = (
    mutant(
        "a person in two classes of items",
        LinkProduct(counter=wrong_values(in_two_classes, only=UnitsByRecords)),
        ONE_CLASS,
    ),
    mutant(
        "a chosen limit that is not kept to",
        LinkProduct(counter=wrong_answers(twice_the_limit, only=MovementCells)),
        WITHIN_A_CHOICE,
    ),
    mutant(
        "a limit chosen by exact numbers of people",
        LinkProduct(curator=Meddler, mechanism=remade(NosyLimit)),
        SAME_LIMIT,
    ),
)

"""Sequences by a noisy prefix tree that grows only where records are.

Chen, Fung, Desai and Sossou (KDD 2012). The tree grows stop by stop and, within a stop, from groups
of locations to locations. At every step all public candidates below the nodes kept so far are
counted with noise, and those that reach a threshold become nodes. Then all counts are made to
agree.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise
from typing import Any, ClassVar

import numpy as np

from hushway.errors import PlanError, PrivacyError
from hushway.families.sequences.fit.projection import project_prefixes
from hushway.families.sequences.fit.rounding import round_prefixes
from hushway.families.sequences.fit.table import SequenceTable, StepSummary, ends_of, nodes_of
from hushway.families.sequences.mechanism.steps import (
    PlannedStep,
    StepAnswer,
    Thresholds,
    planned_steps,
    recommended_grain_shares,
    recommended_shares,
    recommended_thresholds,
    refuse_supercritical,
    step_spends,
)
from hushway.families.sequences.public.prefixes import PrefixCells, SequenceUniverse
from hushway.families.sequences.public.taxonomy import LOCATION
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event
from hushway.privacy.curator import MOST_CELLS, Curator
from hushway.privacy.events import Event
from hushway.privacy.loss import Loss
from hushway.privacy.measured import MeasuredSparse
from hushway.privacy.query import Query
from hushway.release.mechanism import Forecast, Measurements

# A tenth of this takes a few seconds and a quarter of a GiB to fit.
MOST_NODES = 20_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class PrefixTree:
    """Publishes the consistent tree of prefixes closest to what was measured.

    Attributes:
        spends: What each step costs: stop by stop, and within a stop from groups to locations.
        thresholds: From which noisy count on a candidate becomes a node.
        most_nodes: A step that starts from more nodes than this, or would add more false ones, is
            not taken.
        supercritical: Whether a tree whose false nodes multiply may grow until `most_nodes` stops
            it; otherwise it is refused.
    """

    universe: SequenceUniverse
    spends: tuple[Loss, ...]
    thresholds: Thresholds
    most_nodes: int = MOST_NODES
    supercritical: bool = False
    name: str = "prefix_tree"

    # Which steps are taken, and over how many candidates, depends on earlier noisy answers.
    adaptive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        grains = self.universe.taxonomy.grains
        mixed = any(type(one) is not type(other) for one, other in pairwise(self.spends))
        if not self.spends or len(self.spends) % grains or mixed:
            raise PrivacyError(
                "A tree needs one spend for each granularity of each stop, all in one currency.",
                advice="Split one budget with hushway.families.sequences.step_spends.",
            )
        if self.most_nodes < 1:
            raise PrivacyError(
                "A tree must be allowed at least one node.", advice="Leave most_nodes out."
            )

    @property
    def height(self) -> int:
        """The most stops that a published sequence has."""
        return len(self.spends) // self.universe.taxonomy.grains

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        return {
            "max_stops": self.height,
            "noise": self.spends[0].measure.noise,
            "granularities": list(_granularities(self.universe)),
            "periods": self.universe.moments if self.universe.periods is not None else None,
            "spends": [str(spend.amount) for spend in self.spends],
            "thresholds": self.thresholds.parameters,
            "consistency": "exact",
            "most_nodes": self.most_nodes,
            "supercritical": self.supercritical,
        }

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The price of the whole tree; one that stops early spends the first of these only."""
        return self.spends

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does."""
        pruned = (
            "Prefixes measured below the threshold of their step are left out, and so is all that "
            "continues them."
        )
        closest = (
            "The published tree is the closest to all noisy counts, in squared distance weighted "
            "by 1 over the noise's variance, in which no count is negative and none is below the "
            "sum of the counts that continue it."
        )
        ends = (
            "Records whose next stop is left out, or known by its group only, count as ending at "
            "the stop before."
        )
        return pruned, closest, "Counts are made whole without breaking that.", ends

    def events(self, geography: SequenceUniverse, bound: Bound) -> tuple[Event, ...]:
        """What `measure` will do at most, with the candidates of one prefix as cells.

        How many candidates a step has depends on earlier noisy answers, and so does where the tree
        stops. What is charged is a beginning of this list, alike in everything but the number of
        cells, on which no loss depends.

        Raises:
            PrivacyError: False nodes would multiply.
        """
        steps = self.steps(geography, bound)
        return tuple(
            counting_event(query.name, query.cells.size, step.spend, bound)
            for query, step in zip(self.queries(geography), steps, strict=True)
        )

    def queries(self, geography: SequenceUniverse) -> tuple[Query, ...]:
        """What is asked at most, of the candidates of one prefix at every step."""
        return tuple(map(_query, geography.below_one_prefix(self.height)))

    def forecast(self, geography: SequenceUniverse, bound: Bound) -> tuple[Forecast, ...]:
        """Returns the noise in the count of one prefix, for runs of stops that have the same."""
        steps = self.steps(geography, bound)
        names = _granularities(geography)
        runs = (
            (name, list(run))
            for grain, name in enumerate(names)
            for _, run in groupby(steps[grain :: len(names)], key=lambda step: step.spend.amount)
        )
        return tuple(
            Forecast(
                figure=f"one prefix up to the {name} of stop {_span(run)}",
                standard_error=math.sqrt(run[0].law.variance),
                bias=0.0,
            )
            for name, run in runs
        )

    def steps(self, geography: SequenceUniverse, bound: Bound) -> tuple[PlannedStep, ...]:
        """Returns noise and threshold of each step, from public numbers.

        Raises:
            PrivacyError: False nodes would multiply, or the tree was planned for another universe.
        """
        if geography.digest != self.universe.digest:
            raise PrivacyError(
                "The tree was planned for other places, groups or periods.",
                advice="Build the mechanism from the universe that is measured.",
            )
        steps = planned_steps(geography, self.spends, self.thresholds, bound)
        if not self.supercritical:
            refuse_supercritical(steps, geography.taxonomy.grains)
        return steps

    def measure(self, curator: Curator, geography: SequenceUniverse) -> Measurements:
        """Counts step by step, each time below the nodes that the step before has kept.

        Privacy:
            Spends the beginning of `losses`, one for each step taken. Whatever was kept before, a
            record lies in at most one candidate of a step, so a unit moves each step by no more
            than the counter's bound. Whether to go on follows from noisy answers alone.
        """
        cells = geography.first_step()
        steps = self.steps(geography, curator.bound(_query(cells)))
        measured: list[MeasuredSparse] = []
        for step in steps:
            if measured and not self.may_take(step, nodes=cells.nodes, candidates=cells.size):
                break
            answer = curator.counts_above(_query(cells), step.threshold, step.spend)
            measured.append(answer)
            kept = answer.reveal().cells
            if len(kept) == 0:
                break
            cells = cells.below(kept)
        return tuple(measured)

    def fit(self, measured: Measurements, geography: SequenceUniverse) -> SequenceTable:
        """Finds the closest consistent tree, in whole numbers."""
        answers = [StepAnswer.of(answer) for answer in measured]
        nodes = nodes_of([(answer.cells, answer.shown) for answer in answers])
        weights = np.array([1 / answer.variance for answer in answers])[nodes.step]
        fit = project_prefixes(nodes.parent, nodes.measured, weights)
        counts = round_prefixes(nodes.parent, fit.values)
        steps = tuple(answer.summary for answer in answers)
        return SequenceTable(
            taxonomy=geography.taxonomy,
            periods=geography.periods,
            parent=nodes.parent,
            step=nodes.step,
            period=nodes.period,
            code=nodes.code,
            measured=nodes.measured,
            counts=counts,
            ends=ends_of(nodes.parent, nodes.is_prefix, counts),
            steps=steps,
            diagnostics={
                "distance_to_optimum_at_most": fit.kkt_residual,
                "relative_to_total": fit.relative,
                "nodes": len(counts),
                "steps_planned": len(self.spends),
                "steps_taken": len(steps),
                "stopped": self._why_it_stopped(steps),
            },
        )

    def may_take(self, step: PlannedStep, *, nodes: int, candidates: int) -> bool:
        """Whether a step is taken below so many nodes, with so many candidates: noisy numbers."""
        return (
            nodes <= self.most_nodes
            and candidates <= MOST_CELLS
            and candidates * step.chance <= self.most_nodes
        )

    def _why_it_stopped(self, steps: Sequence[StepSummary]) -> str:
        if steps[-1].kept == 0:
            return "nothing_kept"
        return "height" if len(steps) == len(self.spends) else "too_many_nodes"


def _query(cells: PrefixCells) -> Query:
    return Query(name=cells.name, cells=cells)


def _granularities(universe: SequenceUniverse) -> tuple[str, ...]:
    return (*(level.column for level in universe.taxonomy.levels), LOCATION)


def _span(steps: Sequence[PlannedStep]) -> str:
    first, last = steps[0].stop + 1, steps[-1].stop + 1
    return str(first) if first == last else f"{first} to {last}"


def prefix_tree(  # noqa: PLR0913  one argument for each public choice
    universe: SequenceUniverse,
    *,
    budget: Loss,
    height: int,
    level_shares: Sequence[Fraction] | None = None,
    grain_shares: Sequence[Fraction] | None = None,
    thresholds: Thresholds | None = None,
    most_nodes: int = MOST_NODES,
    supercritical: bool = False,
) -> PrefixTree:
    """Returns a prefix tree; without a choice, shares and thresholds are the recommended ones.

    Privacy:
        The steps together cost exactly `budget`.

    Args:
        budget: What the whole tree may cost; its currency decides on the noise.
        grain_shares: The share of each granularity in what a stop gets, the coarsest first.
        thresholds: From which noisy count on a candidate becomes a node.
        most_nodes: Where a tree that has grown too large stops.
        supercritical: Whether false nodes may multiply until `most_nodes`.

    Raises:
        PlanError: Shares do not add up to 1, or are not one for each stop and each granularity.
    """
    stops = recommended_shares(height) if level_shares is None else level_shares
    grains = recommended_grain_shares(universe) if grain_shares is None else grain_shares
    if len(stops) != height or len(grains) != universe.taxonomy.grains:
        raise PlanError(
            f"A tree of {height} stops and {universe.taxonomy.grains} granularities needs a share "
            f"for each; {len(stops)} and {len(grains)} are given.",
            advice="Give one share for each stop, and one for each granularity.",
        )
    return PrefixTree(
        universe=universe,
        spends=step_spends(budget, stops, grains),
        thresholds=recommended_thresholds() if thresholds is None else thresholds,
        most_nodes=most_nodes,
        supercritical=supercritical,
    )

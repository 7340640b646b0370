"""The table that the links family publishes, and how noise becomes one: all post-processing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.links.fit.answers import Answers
from hushway.families.links.fit.completion import ENDS, MET, Completed, GroupSums, group_sums
from hushway.families.links.fit.flows import (
    Balance,
    FlowProblem,
    balance_of,
    fitted_errors,
    fitted_flows,
)
from hushway.families.links.fit.past import learnt
from hushway.families.links.fit.publication import FittedLinks, Rest, rest_of, significant
from hushway.families.links.fit.steps import NoisyStep
from hushway.families.links.public.universe import (
    SPEED_STEP,
    ClassZones,
    LinkUniverse,
)
from hushway.privacy.measured import Measured


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkTable:
    """Published counts of links. Safe for anyone to see.

    Attributes:
        period: Period of each published row, ascending.
        link: Its link, ascending within a period.
        counts: Estimated persons: finite, above 0, rounded to hundredths.
        standard_error: What each is expected to be off by: finite, above 0, rounded likewise.
        speed: Mean speed in km/h, rounded to tenths, NaN where it cannot be told; None if not
            measured.
        speed_error: Standard error of the speed, NaN likewise; None if not measured.
        threshold: Links whose count is below so many standard errors are not shown.
        rest: What is fitted to the links that do not show.
        class_totals: Noisy persons by group of `ClassZones`, as bounded; None if not measured.
        noise: Standard deviation of the noise in each measurement, by what was asked.
    """

    universe: LinkUniverse
    period: IntArray
    link: IntArray
    counts: FloatArray
    standard_error: FloatArray
    speed: FloatArray | None
    speed_error: FloatArray | None
    threshold: float
    rest: Rest
    class_totals: IntArray | None
    noise: Mapping[str, float]
    diagnostics: Mapping[str, Any] = field(default_factory=dict)


_HUNDREDTH = 0.01


def fit_links(
    answers: Answers,
    universe: LinkUniverse,
    *,
    publish_above_se: float,
    shrink_to_class: bool,
    conserve: bool,
    steps: Sequence[tuple[int, NoisyStep]] = (),
) -> LinkTable:
    """Fits the flows of every period, and keeps the links that stand out.

    Args:
        steps: What other steps of a series measured, and how many steps each is away.
    """
    groups = ClassZones(universe=universe)
    told = learnt(answers, groups, steps)
    whole, sums = told.whole, group_sums(told.sums, answers.classes, told.whole)
    balance = balance_of(universe.roads)
    problems = _problems(
        whole, sums, groups, balance, shrink_to_class=shrink_to_class, conserve=conserve
    )
    fitted = _fitted(problems, whole, sums, universe.roads.links)
    standing = (fitted.values >= publish_above_se * fitted.errors) & (fitted.values >= _HUNDREDTH)
    if publish_above_se > 0:
        standing &= _beyond_noise(answers.items, told.deviations, universe)
    period, link = (index.astype(np.int64) for index in np.nonzero(standing))
    speed = _speeds(answers.speeds, whole, groups, fitted, standing)
    loose = [balance.looseness(one.noisy, one.variance) for one in problems]
    return LinkTable(
        universe=universe,
        period=period,
        link=link,
        counts=np.round(fitted.values[standing], 2),
        standard_error=np.maximum(np.round(fitted.errors[standing], 2), _HUNDREDTH),
        speed=None if speed is None else speed[0],
        speed_error=None if speed is None else speed[1],
        threshold=publish_above_se,
        rest=rest_of(fitted, standing, groups),
        class_totals=None if answers.classes is None else answers.classes.values,
        noise=answers.noise,
        diagnostics={"published_rows": len(link), "looseness_of_nodes": float(np.mean(loose))},
    )


def _problems(
    whole: Completed,
    sums: GroupSums,
    groups: ClassZones,
    balance: Balance,
    *,
    shrink_to_class: bool,
    conserve: bool,
) -> list[FlowProblem]:
    """Returns what is known of each period."""
    periods, items = len(groups.universe.periods), groups.universe.items
    group = groups.of(np.arange(items))
    found = []
    for period in range(periods):
        own = slice(period * items, (period + 1) * items)
        counts, variance = whole.counts[own], whole.variance[own]
        expected, spread = group_prior(counts, variance, group, groups.groups)
        found.append(
            FlowProblem(
                noisy=counts,
                variance=variance,
                expected=expected,
                spread=spread if shrink_to_class else np.full(items, np.inf),
                balance=balance.matrix,
                imbalance=_imbalance(balance, counts, variance, conserve=conserve),
                group=group,
                sums=sums.values[period],
                sum_variance=sums.measured_variance[period],
            )
        )
    return found


def _imbalance(
    balance: Balance, counts: FloatArray, variance: FloatArray, *, conserve: bool
) -> FloatArray:
    if not conserve:
        return np.full(balance.matrix.shape[0], np.inf)
    return balance.variance(counts, variance)


def _fitted(
    problems: list[FlowProblem], whole: Completed, sums: GroupSums, links: int
) -> FittedLinks:
    together = whole.together.reshape(len(problems), -1)[:, :links]
    flows = [
        fitted_flows(replace(problem, sum_variance=MET * variance))
        for problem, variance in zip(problems, sums.variance, strict=True)
    ]
    own = [_errors(problem, flow)[:links] for problem, flow in zip(problems, flows, strict=True)]
    return FittedLinks(
        values=np.stack([flow[:links] for flow in flows]),
        # Neighbours do not make up for an error that they share.
        errors=np.sqrt(np.stack(own) ** 2 + together),
        sum_variance=sums.variance[:, :-ENDS],
    )


def _errors(problem: FlowProblem, flows: FloatArray) -> FloatArray:
    """Returns the standard errors of flows.

    Most links of a group carry less than its mean, and a few carry many times that. So the mean
    pulls down what lies above it, but does not make it surer.
    """
    spread = np.where(flows > problem.expected, np.inf, problem.spread)
    return fitted_errors(replace(problem, spread=spread))


def _beyond_noise(
    items: Measured, deviations: FloatArray | None, universe: LinkUniverse
) -> BoolArray:
    links, periods = universe.roads.links, len(universe.periods)
    cells = (np.arange(periods)[:, None] * universe.items + np.arange(links)).reshape(-1)
    return significant(items, cells, deviations).reshape(periods, links)


def _speeds(
    speeds: Measured | None,
    whole: Completed,
    groups: ClassZones,
    fitted: FittedLinks,
    standing: BoolArray,
) -> tuple[FloatArray, FloatArray] | None:
    if speeds is None:
        return None
    shape = fitted.values.shape
    steps = speeds.values.astype(np.float64).reshape(shape)
    usual = np.broadcast_to(groups.universe.roads.speed, shape)
    # Steps are those of people as bounded.
    share = whole.share.reshape(shape[0], -1)[:, groups.links[0]]
    counted = 1 / (1 + share)
    return fitted_speeds(
        steps[standing],
        float(speeds.variance),
        (counted * fitted.values)[standing],
        (counted * fitted.errors)[standing],
        usual[standing],
    )


# Streets of one kind differ by about as much as their mean. Without such a floor a group of quiet
# ones could be taken for a constant, with standard errors that nobody should believe.
_LEAST_VARIATION = 1.0
_LEAST_SPREAD = 1e-3


def group_prior(
    counts: FloatArray, variance: FloatArray, group: IntArray, groups: int
) -> tuple[FloatArray, FloatArray]:
    """Returns the mean of each item's group, and how far items are from it, as variances.

    Some links carry far more than others of their kind. Where a noisy count is further from the
    mean than the group's spread and the noise explain, its spread is widened by as much, so that
    busy roads are not shrunk to the others.
    """
    size = np.maximum(np.bincount(group, minlength=groups), 1)
    middle = np.maximum(np.bincount(group, counts, minlength=groups) / size, 0.0)
    mean = middle[group]
    apart = (counts - mean) ** 2
    noise = np.bincount(group, variance, minlength=groups) / size
    beyond = np.bincount(group, apart, minlength=groups) / size - noise
    floor = (_LEAST_VARIATION * middle) ** 2 + _LEAST_SPREAD * noise
    spread = np.maximum(beyond, floor)[group]
    return mean, spread * np.maximum(apart / (spread + variance), 1.0)


# A speed that may be off by more than this says nothing, in km/h.
_LARGEST_ERROR = 10.0
_SLOWEST = 1.0
# Links differ by about a step from each other, even where noise hides it. Without this floor all
# speeds could be taken for one, with standard errors that nobody should believe.
_LEAST_SPEED_SPREAD = 1.0


def fitted_speeds(
    steps: FloatArray, variance: float, counts: FloatArray, errors: FloatArray, usual: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Returns mean speeds and their standard errors in km/h; NaN where nothing can be told.

    The mean step of a link is its noisy sum over its fitted count, shrunk towards the mean of all
    links by as much as its own noise outweighs how links differ.

    Args:
        steps: Noisy sums of steps from the usual speed.
        variance: Variance of the noise in each.
    """
    mean = steps / counts
    # A count that is off changes the mean in proportion.
    noise = variance / counts**2 + mean**2 * (errors / counts) ** 2
    weight = 1 / noise
    common = float(weight @ mean / weight.sum()) if len(mean) else 0.0
    differ = float(weight @ ((mean - common) ** 2 - noise) / weight.sum()) if len(mean) else 0.0
    spread = max(differ, _LEAST_SPEED_SPREAD)
    trust = spread / (spread + noise)
    best = common + trust * (mean - common)
    error = SPEED_STEP * np.sqrt(spread * noise / (spread + noise))
    speed = np.maximum(usual + SPEED_STEP * best, _SLOWEST)
    told = SPEED_STEP * np.sqrt(noise) <= _LARGEST_ERROR
    return (
        np.where(told, np.round(speed, 1), np.nan),
        np.where(told, np.maximum(np.round(error, 1), 0.1), np.nan),
    )

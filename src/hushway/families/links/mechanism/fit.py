"""From noisy counts of links to plausible ones: all of it post-processing."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hushway.arrays import BoolArray, FloatArray
from hushway.errors import PrivacyError
from hushway.families.links.mechanism.balance import Balance, balance_of
from hushway.families.links.mechanism.expectation import expectation
from hushway.families.links.mechanism.flows import FlowProblem, fitted_flows
from hushway.families.links.mechanism.speeds import fitted_speeds
from hushway.families.links.mechanism.table import LinkTable
from hushway.families.links.public.universe import (
    ClassZones,
    LinkUniverse,
    MovementCells,
    SpeedSums,
)
from hushway.privacy.measured import Measured
from hushway.release.mechanism import Measurements, noise_of

_HUNDREDTH = 0.01


@dataclass(frozen=True, kw_only=True, eq=False)
class _Fitted:
    """Fitted persons by (period, link), and what they are expected to be off by."""

    values: FloatArray
    errors: FloatArray
    looseness: float


@dataclass(frozen=True, kw_only=True, eq=False)
class _Answers:
    """What was measured, told apart by what was asked."""

    items: Measured
    classes: Measured | None
    speeds: Measured | None


def fit_links(
    measured: Measurements, universe: LinkUniverse, *, shown: float, expect: bool, conserve: bool
) -> LinkTable:
    """Fits the flows of every period, and keeps the links that stand out."""
    answers = _told_apart(measured)
    groups = ClassZones(universe=universe)
    variance = float(answers.items.variance)
    noisy = answers.items.values.astype(np.float64).reshape(len(universe.periods), -1)
    sums, sum_variance = _sums(answers.classes, groups)
    group = groups.of(np.arange(universe.items))
    balance = balance_of(universe.roads)
    values, errors = np.empty_like(noisy), np.empty_like(noisy)
    loose = []
    for period, counts in enumerate(noisy):
        expected, spread = expectation(counts, variance, group, groups.groups)
        problem = FlowProblem(
            noisy=counts,
            variance=variance,
            expected=expected,
            spread=spread if expect else np.full(len(counts), np.inf),
            balance=balance.matrix,
            imbalance=_imbalance(balance, counts, variance, conserve=conserve),
            group=group,
            sums=sums[period],
            sum_variance=sum_variance,
        )
        values[period] = fitted_flows(problem)
        # The error without conservation and sums, which only make it smaller.
        errors[period] = np.sqrt(1 / (1 / variance + 1 / problem.spread))
        loose.append(balance.looseness(counts, variance))
    links = universe.roads.links
    fitted = _Fitted(
        values=values[:, :links], errors=errors[:, :links], looseness=float(np.mean(loose))
    )
    return _table(answers, universe, fitted, shown, noise_of(measured))


def _told_apart(measured: Measurements) -> _Answers:
    found = {type(one.query.cells): one for one in measured if isinstance(one, Measured)}
    if MovementCells not in found:
        raise PrivacyError(
            "Links cannot be fitted without their counts.",
            advice="Give `fit` what `measure` returned.",
        )
    return _Answers(
        items=found[MovementCells],
        classes=found.get(ClassZones),
        speeds=found.get(SpeedSums),
    )


def _sums(classes: Measured | None, groups: ClassZones) -> tuple[FloatArray, FloatArray]:
    periods = len(groups.universe.periods)
    if classes is None:
        return np.zeros((periods, groups.groups)), np.full(groups.groups, np.inf)
    values = classes.values.astype(np.float64).reshape(periods, groups.groups)
    return values, np.full(groups.groups, float(classes.variance))


def _imbalance(
    balance: Balance, counts: FloatArray, variance: float, *, conserve: bool
) -> FloatArray:
    if not conserve:
        return np.full(balance.matrix.shape[0], np.inf)
    return balance.variance(counts, variance)


def _table(
    answers: _Answers,
    universe: LinkUniverse,
    fitted: _Fitted,
    shown: float,
    noise: Mapping[str, float],
) -> LinkTable:
    values, errors = fitted.values, fitted.errors
    standing = (values >= shown * errors) & (values >= _HUNDREDTH)
    period, link = (index.astype(np.int64) for index in np.nonzero(standing))
    speed = None if answers.speeds is None else _speeds(answers.speeds, universe, fitted, standing)
    classes = answers.classes
    return LinkTable(
        universe=universe,
        period=period,
        link=link,
        counts=np.round(values[standing], 2),
        standard_error=np.maximum(np.round(errors[standing], 2), _HUNDREDTH),
        speed=None if speed is None else speed[0],
        speed_error=None if speed is None else speed[1],
        threshold=shown,
        class_totals=None if classes is None else classes.values,
        noise=noise,
        diagnostics={"published_rows": len(link), "looseness_of_nodes": fitted.looseness},
    )


def _speeds(
    speeds: Measured, universe: LinkUniverse, fitted: _Fitted, standing: BoolArray
) -> tuple[FloatArray, FloatArray]:
    steps = speeds.values.astype(np.float64).reshape(fitted.values.shape)
    usual = np.broadcast_to(universe.roads.speed, fitted.values.shape)
    return fitted_speeds(
        steps[standing],
        float(speeds.variance),
        fitted.values[standing],
        fitted.errors[standing],
        usual[standing],
    )

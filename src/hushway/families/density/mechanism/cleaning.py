"""What becomes of the noise in the series of clusters."""

import math
from collections.abc import Callable
from typing import Any, Final, Literal

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PrivacyError
from hushway.families.density.mechanism.rhythms import (
    Cleaned,
    best_cuts,
    clean,
    cut,
    cut_variance,
    learn_rhythms,
)
from hushway.families.density.mechanism.totals import Answers, Totals

Denoise = Literal["patterns", "sure", "cuts", "none"]
Found = tuple[Cleaned, dict[str, Any]]
"""Cleaned series, and what is worth telling about it."""

# Fewer series have nothing in common that could be told from their noise.
_FEWEST: Final = 3


def _patterns(answers: Answers, totals: Totals) -> Found:
    series = answers.series
    if len(series.values) < _FEWEST:
        return _sure(answers, totals)
    # Rhythms are relative to a total, and one below its own noise says nothing.
    size = np.maximum(totals.clusters, math.sqrt(series.values.shape[1] * series.variance))
    rhythms = learn_rhythms(series.values, size, series.variance)
    cleaned = clean(series.values, size, series.variance, rhythms)
    return cleaned, {"patterns": rhythms.patterns}


def _sure(answers: Answers, _totals: Totals) -> Found:
    series = answers.series
    return _cut(answers, best_cuts(series.values, series.variance))


def _chosen(answers: Answers, _totals: Totals) -> Found:
    if answers.cuts is None:
        raise PrivacyError(
            "No cuts were chosen for these series.", advice="Measure with a share for cuts."
        )
    return _cut(answers, answers.cuts)


def _cut(answers: Answers, cuts: IntArray) -> Found:
    series = answers.series
    cleaned = Cleaned(
        values=cut(series.values, cuts),
        variance=cut_variance(series.values.shape[1], cuts, series.variance),
    )
    return cleaned, {"mean_coefficients": float(cuts.mean())}


def _nothing(answers: Answers, _totals: Totals) -> Found:
    series = answers.series
    return Cleaned(values=series.values, variance=np.full_like(series.values, series.variance)), {}


CLEANERS: Final[dict[Denoise, Callable[[Answers, Totals], Found]]] = {
    "patterns": _patterns,
    "sure": _sure,
    "cuts": _chosen,
    "none": _nothing,
}

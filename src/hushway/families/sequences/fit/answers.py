"""Noisy answers as tables, and what is believed of them, however sure each of their numbers is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import BoolArray, FloatArray
from hushway.families.sequences.fit.posterior import FEWEST, Noise, Posterior, posterior
from hushway.families.sequences.public.questions import (
    FIRST_TOGETHER,
    Asked,
    JointCells,
    NewStopCells,
    RecordCells,
)
from hushway.privacy.measured import Measured

_NOTHING: Final = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """One noisy answer as a table, and the law of its noise.

    Attributes:
        noise: The law of the noise; where other steps were added, of what it is on average.
        unsure: The variance of each number, if they have different ones.
    """

    values: FloatArray
    noise: Noise
    unsure: FloatArray | None = None

    @property
    def variance(self) -> FloatArray:
        """The variance of each number."""
        if self.unsure is None:
            return np.full(self.values.shape, self.noise.variance)
        return self.unsure

    @property
    def flat(self) -> "Answer":
        """The same as one row."""
        unsure = None if self.unsure is None else self.unsure.ravel()
        return Answer(values=self.values.ravel(), noise=self.noise, unsure=unsure)

    @property
    def scales(self) -> "float | FloatArray":
        """How wide the noise of each number is, as the scale of its law."""
        if self.unsure is None:
            return self.noise.scale
        return np.asarray(np.sqrt(self.unsure / self.noise.variance) * self.noise.scale)

    def only(self, some: "BoolArray | slice | tuple[slice, slice]") -> "Answer":
        """Returns some of its numbers."""
        unsure = None if self.unsure is None else self.unsure[some]
        return Answer(values=self.values[some], noise=self.noise, unsure=unsure)

    def columns(self) -> "Answer":
        """Returns the sums of its columns, as if the law of their noise were the same."""
        noise = self.noise.over(len(self.values))
        unsure = None if self.unsure is None else self.unsure.sum(axis=0)
        return Answer(values=self.values.sum(axis=0), noise=noise, unsure=unsure)


def surer(own: Answer, values: FloatArray, variance: FloatArray) -> Answer:
    """Returns an answer with numbers that were made more exact."""
    noise = own.noise.with_variance(float(np.mean(variance)))
    return Answer(values=values, noise=noise, unsure=variance)


def believed(
    answer: Answer, expected: FloatArray, *, fewest: int = FEWEST, free: bool = False
) -> Posterior:
    """Returns the posterior of the noisy counts in a row, given prior means (`posterior`)."""
    return posterior(
        answer.values, expected, answer.noise, fewest=fewest, free=free, unsure=answer.unsure
    )


def margin(answer: Answer, alike: FloatArray, total: float) -> FloatArray:
    """Returns the posterior of noisy sums by place, with a known total.

    Places with about the same value of `alike` are compared with each other.
    """
    scaled = np.maximum(alike, 1e-6) * max(total, 1.0) / max(float(alike.sum()), _NOTHING)
    fewest = max(20, len(answer.values) // 8)
    found = np.maximum(believed(answer, scaled, fewest=fewest, free=True).mean, 1e-6)
    scaled_back: FloatArray = found * max(total, _NOTHING) / found.sum()
    return scaled_back


def read_answers(measured: Sequence[Measured]) -> tuple[Answer, ...]:
    """Returns the answers to the questions about all records, in the order of `Asked`."""
    found = [_read(one.query.cells, one.values, Noise.of(one)) for one in measured[:FIRST_TOGETHER]]
    if len(measured) > FIRST_TOGETHER:
        parts = read_together(measured[FIRST_TOGETHER])
        found += parts[: len(Asked) - FIRST_TOGETHER]
    return tuple(found)


def read_together(joint: Measured) -> list[Answer]:
    """Returns the answers to questions that were asked together, each divided by its worth."""
    cells = joint.query.cells
    assert isinstance(cells, JointCells)  # noqa: S101  what is asked there
    found, first = [], 0
    for part, worth in zip(cells.parts, cells.worths, strict=True):
        each = part.worth if isinstance(part, NewStopCells) else worth
        values = joint.values[first : first + part.size] / each
        found.append(_read(part, values, Noise.of(joint, each)))
        first += part.size
    return found


def read_closer(measured: Measured) -> Answer:
    """Returns the closer look at new stops, divided by what each of them is worth."""
    cells = measured.query.cells
    assert isinstance(cells, NewStopCells)  # noqa: S101  what is asked there
    return Answer(values=measured.values / cells.worth, noise=Noise.of(measured, cells.worth))


def twice(one: Answer, other: Answer) -> Answer:
    """Returns the mean of two looks at the same, each weighted by how sure it is."""
    trust = other.noise.variance / (one.noise.variance + other.noise.variance)
    scale = one.noise.scale * math.sqrt(trust)
    return Answer(
        values=trust * one.values + (1 - trust) * other.values,
        noise=Noise(scale=scale, gaussian=one.noise.gaussian),
    )


def _read(cells: object, values: NDArray[Any], noise: Noise) -> Answer:
    shape = cells.shape if isinstance(cells, RecordCells) else (-1,)
    return Answer(values=values.reshape(shape).astype(np.float64), noise=noise)

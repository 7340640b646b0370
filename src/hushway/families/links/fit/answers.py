"""What was measured of links, told apart by what was asked, and put together: post-processing."""

from dataclasses import dataclass

import numpy as np

from hushway.errors import PrivacyError
from hushway.families.links.fit.completion import (
    Completed,
    LeftOut,
    ToldSums,
    as_counted,
    completed,
    told_sums,
)
from hushway.families.links.fit.missing_shares import Expected, Nesting
from hushway.families.links.public.universe import (
    ClassZones,
    LeftOutCells,
    LeftOutClasses,
    MovementCells,
    SpeedSums,
)
from hushway.privacy.measured import Measured
from hushway.release.mechanism import Measurements


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """What was measured, told apart by what was asked."""

    items: Measured
    left_out: LeftOut | None
    classes: Measured | None
    speeds: Measured | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Told:
    """What noisy answers say of cells and of groups, before anything is made to fit."""

    whole: Completed
    sums: ToldSums


def told_apart(measured: Measurements, expected: Expected | None) -> Answers:
    """Tells answers apart by what was asked.

    Raises:
        PrivacyError: The counts of links are not among them.
    """
    found = {type(one.query.cells): one for one in measured if isinstance(one, Measured)}
    if MovementCells not in found:
        raise PrivacyError(
            "Links cannot be fitted without their counts.",
            advice="Give `fit` what `measure` returned.",
        )
    left_out = None
    if LeftOutCells in found and LeftOutClasses in found:
        left_out = LeftOut(
            cells=found[LeftOutCells], classes=found[LeftOutClasses], expected=expected
        )
    return Answers(
        items=found[MovementCells],
        left_out=left_out,
        classes=found.get(ClassZones),
        speeds=found.get(SpeedSums),
    )


def told_by(answers: Answers, groups: ClassZones) -> Told:
    """Returns what answers say of cells and groups, with what the bound left out."""
    whole = _whole(answers, groups)
    return Told(whole=whole, sums=told_sums(answers.items, answers.classes, whole, groups))


def _whole(answers: Answers, groups: ClassZones) -> Completed:
    if answers.left_out is None:
        return as_counted(answers.items, groups.size)
    cells = np.arange(len(answers.items.values))
    kinds = LeftOutClasses(universe=groups.universe)
    return completed(
        answers.items,
        answers.left_out,
        Nesting(kind=kinds.kind(cells % groups.universe.items), group=groups.of(cells)),
    )

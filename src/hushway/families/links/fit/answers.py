"""What was measured of links, told apart by what was asked, and put together: post-processing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import BoolArray, IntArray
from hushway.errors import PrivacyError
from hushway.families.links.fit.completion import (
    Completed,
    LeftOut,
    ToldSums,
    as_counted,
    beyond_of,
    completed,
    told_sums,
)
from hushway.families.links.fit.left_out_before import Beyond
from hushway.families.links.fit.missing_shares import Expected, Nesting
from hushway.families.links.public.universe import (
    ClassZones,
    LeftOutCells,
    LeftOutClasses,
    MovementCells,
    SpeedSums,
)
from hushway.privacy.measured import Measured
from hushway.release.mechanism import Measurements, noise_of


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """What was measured, told apart by what was asked.

    Attributes:
        most: So many items of a person count.
        noise: Standard deviation of the noise in each measurement, by what was asked.
    """

    most: int
    noise: Mapping[str, float]
    items: Measured
    left_out: LeftOut | None
    classes: Measured | None
    speeds: Measured | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Told:
    """What noisy answers say of cells and of groups, before anything is made to fit.

    Attributes:
        on_link: Which cells are links, and not beginnings or ends of trips.
        beyond: What was measured beyond the bound; None if nothing was.
    """

    on_link: BoolArray
    whole: Completed
    sums: ToldSums
    beyond: Beyond | None = None


def told_apart(measured: Measurements, expected: Expected | None, most: int) -> Answers:
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
        most=most,
        noise=noise_of(measured),
        items=found[MovementCells],
        left_out=left_out,
        classes=found.get(ClassZones),
        speeds=found.get(SpeedSums),
    )


def beyond(answers: Answers, groups: ClassZones) -> Beyond | None:
    """Returns what was measured beyond the bound; None if nothing was."""
    if answers.left_out is None:
        return None
    cells = np.arange(len(answers.items.values))
    return beyond_of(
        answers.items,
        answers.left_out,
        nesting_of(groups, cells),
        period=cells // groups.universe.items,
        most=answers.most,
    )


def nesting_of(groups: ClassZones, cells: IntArray) -> Nesting:
    """Returns the classes and the groups of cells."""
    kinds = LeftOutClasses(universe=groups.universe)
    return Nesting(kind=kinds.kind(cells % groups.universe.items), group=groups.of(cells))


def told_by(answers: Answers, groups: ClassZones, others: Sequence[Beyond] = ()) -> Told:
    """Returns what answers say of cells and groups, with what the bound left out.

    Args:
        others: What was measured beyond the bound in other steps.
    """
    own, items = beyond(answers, groups), groups.universe.items
    whole = as_counted(answers.items, groups.size) if own is None else completed(own, others)
    sums = told_sums(answers.items, answers.classes, whole, groups)
    on_link = np.arange(len(answers.items.values)) % items < groups.universe.roads.links
    return Told(on_link=on_link, whole=whole, sums=sums, beyond=own)

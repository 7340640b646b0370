"""The list that shows a release adding up: every constraint, and by how much it is missed.

Everything but two things can be computed again from the published files: how far sums moved when
counts were made whole, and how well the fit was solved. Those are the publisher's word.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import damaged
from hushway.families.od.fit.random_effects import RandomEffects, are_effects
from hushway.families.od.fit.table import ODTable
from hushway.families.od.public.feature_structure import groups_of, refines
from hushway.families.od.public.features import Feature
from hushway.privacy.certificate import canonical_json, parsed_json
from hushway.release.formats.interval import interval_of
from hushway.release.wording import Sums


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishedSums:
    """The sums of one feature as a release shows them.

    Attributes:
        feature: The public partition.
        counts: The sum of the published rows in each element.
        measured: The noisy count of each element.
        standard_error: Standard deviation of the noise in each measured count.
        errors: Standard deviation of the error in each published sum, if that was learnt.
    """

    feature: Feature
    counts: IntArray
    measured: IntArray
    standard_error: float
    errors: FloatArray | None = None

    @property
    def interval(self) -> tuple[FloatArray, FloatArray]:
        """The ends of intervals of 95%: around published sums if their errors were learnt.

        Otherwise around what was measured: the error of a fitted sum is not known.
        """
        if self.errors is None:
            return interval_of(self.measured, self.standard_error)
        return interval_of(self.counts, self.errors)

    @property
    def residuals(self) -> IntArray:
        """How far each published sum is from what was measured."""
        return self.counts - self.measured


def published_sums(table: ODTable) -> tuple[PublishedSums, ...]:
    """Returns the sums over every feature that a table was fitted to."""
    features = [margin.feature for margin in table.margins]
    return tuple(
        PublishedSums(
            feature=margin.feature,
            counts=counts,
            measured=margin.measured,
            standard_error=float(margin.standard_error),
            errors=margin.errors,
        )
        for margin, counts in zip(
            table.margins, sums_of_rows(features, [(table.cells, table.counts)]), strict=True
        )
    )


def sums_of_rows(
    features: Sequence[Feature], batches: Iterable[tuple[IntArray, IntArray]]
) -> tuple[IntArray, ...]:
    """Adds up rows over the elements of features."""
    sums = tuple(np.zeros(feature.size, dtype=np.int64) for feature in features)
    for cells, counts in batches:
        for feature, total in zip(features, sums, strict=True):
            # Weights of bincount are doubles; this adds whole numbers.
            np.add.at(total, feature.of(cells), counts)
    return sums


def coarser_sums(finer: Feature, counts: IntArray, coarser: Feature) -> IntArray:
    """Adds up the sums of a feature over the elements of one that it refines."""
    inside = groups_of(finer.universe, [finer]).element_of(coarser)
    total = np.zeros(coarser.size, dtype=np.int64)
    np.add.at(total, inside, counts)
    return total


_ABOUT = (
    "What adds up. A difference of 0 means that two ways to the same sum agree exactly. The "
    "residual is the published sum minus its own noisy measurement: sums are fitted to all "
    "measurements together, so about one standard error is what noise alone explains. The "
    "rounding shift is how far a sum moved when counts were made whole after the fit; it and the "
    "entries under fit cannot be computed again from the published files."
)


def adds_up_json(table: ODTable, margins: Sequence[PublishedSums]) -> bytes:
    """Returns adds-up.json for a table and its sums."""
    shifts = [
        float(np.max(np.abs(sums.counts - margin.fitted)))
        for sums, margin in zip(margins, table.margins, strict=True)
    ]
    return _render(margins, shifts, table.diagnostics)


def check_adds_up(data: bytes, margins: Sequence[PublishedSums]) -> None:
    """Recomputes adds-up.json from published sums that are those of the rows."""
    facts = parsed_json(data)
    shifts = [each["largest_rounding_shift"] for each in facts.get("sums", [])]
    sound = len(shifts) == len(margins) and all(
        type(shift) is float and shift >= 0 and math.isfinite(shift) for shift in shifts
    )
    if not sound or _render(margins, shifts, facts["fit"]) != data:
        raise damaged("adds-up.json does not say what the published rows and sums say.")
    if any(each["largest_difference"] for each in (*facts["sums"], *facts["refinements"])):
        raise damaged("The published sums do not add up.")
    if margins[0].errors is not None:
        read_effects(data)


def read_effects(data: bytes) -> RandomEffects:
    """Reads what errors of counts have in common, where that was learnt."""
    effects = parsed_json(data)["fit"].get("random_effects")
    if not are_effects(effects):
        raise damaged("adds-up.json does not say what errors of counts have in common.")
    return RandomEffects(**effects)


def root_mean_square_residual(sums: PublishedSums) -> float:
    """Returns the typical distance of a feature's sums from what was measured, in trips."""
    # In whole numbers, so that every machine finds the same last digit.
    squares = sum(residual * residual for residual in sums.residuals.tolist())
    return math.sqrt(squares / sums.feature.size)


def _render(
    margins: Sequence[PublishedSums], shifts: Sequence[float], fit: Mapping[str, Any]
) -> bytes:
    return canonical_json(
        {
            "about": _ABOUT,
            "sums": list(map(_sums_facts, margins, shifts)),
            "refinements": list(_refinements(margins)),
            "fit": dict(fit),
        }
    )


def _sums_facts(sums: PublishedSums, shift: float) -> dict[str, Any]:
    feature, error = sums.feature, sums.standard_error
    typical = root_mean_square_residual(sums)
    each = "The sum" if feature.size == 1 else f"Each of the {feature.size:,} sums"
    return {
        "constraint": f"{each} of {feature.title!r} ({feature.name}) is the sum of its rows.",
        "published_total": feature.title,
        "elements": feature.size,
        # A verifier compares the sums with the rows before it looks at this file.
        "largest_difference": 0,
        "largest_rounding_shift": shift,
        "standard_error": error,
        "root_mean_square_residual": typical,
        "residual_in_standard_errors": typical / error if error > 0 else None,
    }


def _refinements(margins: Sequence[PublishedSums]) -> Iterator[dict[str, Any]]:
    for finer, coarser in permutations(margins, 2):
        if refines(finer.feature, coarser.feature):
            added = coarser_sums(finer.feature, finer.counts, coarser.feature)
            title, above = finer.feature.title, coarser.feature.title
            yield {
                "constraint": f"The sums of {title!r} add up to those of {above!r}.",
                "finer": title,
                "coarser": above,
                "largest_difference": _largest(coarser.counts - added),
            }


def _largest(differences: IntArray) -> int:
    return int(np.max(np.abs(differences)))


def sums_by_period(table: ODTable) -> Sums:
    """Returns the trips of every period."""
    universe = table.universe
    return _sums(table, table.cells // universe.pairs, len(universe.periods), universe.pairs)


def sums_by_pair(table: ODTable) -> Sums:
    """Returns the trips of every pair of places over all periods; the key is a cell of period 0."""
    pairs, periods = table.universe.pairs, len(table.universe.periods)
    keys = table.cells % pairs
    if pairs <= 4 * len(keys):
        return _sums(table, keys, pairs, periods)
    # Few rows in a vast universe: number only the pairs that have a row.
    seen, positions = np.unique(keys, return_inverse=True)
    sums = _sums(table, positions, len(seen), periods)
    return Sums(keys=seen, totals=sums.totals, standard_errors=sums.standard_errors)


def _sums(table: ODTable, keys: IntArray, size: int, cells_each: int) -> Sums:
    totals = np.bincount(keys, weights=table.counts, minlength=size).astype(np.float64)
    variances = np.bincount(keys, weights=table.standard_errors**2, minlength=size).astype(
        np.float64
    )
    if table.effects is not None:
        variances = table.effects.variances_of_rows(
            table.universe, table.cells, table.standard_errors, keys, size
        )
    elif table.zeros_left_out:
        # The cells that came out as 0 were measured with the same noise as their neighbours.
        rows = np.bincount(keys, minlength=size)
        variances *= cells_each / np.maximum(rows, 1)
    return Sums(keys=np.arange(size), totals=totals, standard_errors=np.sqrt(variances))

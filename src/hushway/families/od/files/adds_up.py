"""The list that shows a release adding up: every constraint, and by how much it is missed.

Everything but two things can be computed again from the published files: how far sums moved when
counts were made whole, and how well the fit was solved. Those are the publisher's word.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.families.od.files.sums import PublishedSums, coarser_sums
from hushway.families.od.mechanism.table import ODTable
from hushway.families.od.public.groups import refines
from hushway.privacy.certificate import canonical_json, parsed_json

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
    rows = [sums.counts for sums in margins]
    return _render(margins, rows, shifts, table.diagnostics)


def check_adds_up(data: bytes, margins: Sequence[PublishedSums], rows: Sequence[IntArray]) -> None:
    """Recomputes adds-up.json as far as the published files go.

    Args:
        data: The bytes of the file.
        margins: The published sums.
        rows: The sums of the published rows over the same features.

    Raises:
        ReleaseError: A figure is another one, or something does not add up.
    """
    facts = parsed_json(data)
    shifts = [each["largest_rounding_shift"] for each in facts.get("sums", [])]
    sound = len(shifts) == len(margins) and all(
        type(shift) is float and shift >= 0 and math.isfinite(shift) for shift in shifts
    )
    if not sound or _render(margins, rows, shifts, facts["fit"]) != data:
        raise ReleaseError(
            "adds-up.json does not say what the published rows and sums say.",
            advice="Ask the publisher for an intact copy of the release.",
        )
    if any(each["largest_difference"] for each in (*facts["sums"], *facts["refinements"])):
        raise ReleaseError(
            "The published sums do not add up.",
            advice="Ask the publisher for an intact copy of the release.",
        )


def root_mean_square_residual(sums: PublishedSums) -> float:
    """Returns the typical distance of a feature's sums from what was measured, in trips."""
    # In whole numbers, so that every machine finds the same last digit.
    squares = sum(residual * residual for residual in sums.residuals.tolist())
    return math.sqrt(squares / sums.feature.size)


def _render(
    margins: Sequence[PublishedSums],
    rows: Sequence[IntArray],
    shifts: Sequence[float],
    fit: Mapping[str, Any],
) -> bytes:
    return canonical_json(
        {
            "about": _ABOUT,
            "sums": [
                _sums_facts(sums, own, shift)
                for sums, own, shift in zip(margins, rows, shifts, strict=True)
            ],
            "refinements": list(_refinements(margins)),
            "fit": dict(fit),
        }
    )


def _sums_facts(sums: PublishedSums, rows: IntArray, shift: float) -> dict[str, Any]:
    feature, error = sums.feature, sums.standard_error
    typical = root_mean_square_residual(sums)
    each = "The sum" if feature.size == 1 else f"Each of the {feature.size:,} sums"
    return {
        "constraint": f"{each} of {feature.title!r} ({feature.name}) is the sum of its rows.",
        "feature": feature.title,
        "elements": feature.size,
        "largest_difference": _largest(sums.counts - rows),
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

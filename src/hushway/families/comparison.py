"""How two releases differ, how much of that noise explains, and what one is off by."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hushway.arrays import BoolArray, FloatArray
from hushway.errors import PlanError, ReleaseError
from hushway.families.load import load_plan, prepare
from hushway.families.registry import family_certified
from hushway.families.verify import verified
from hushway.privacy.measured import Internal
from hushway.progress import Progress
from hushway.release.forecast.compared import ComparedTable
from hushway.release.forecast.true_errors import TrueErrors, exact_context
from hushway.release.others import named
from hushway.release.questions.steps import error_of_change

# How many joint standard errors noise alone rarely makes of a difference.
BEYOND: Final = 2.0
_VALUE: Final = "count"
# How many of the largest differences are told.
_SHOWN: Final = 10
# No id holds it, so joined ids stay apart.
_BETWEEN: Final = "\0"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One figure in two releases."""

    figure: str
    one: float
    other: float
    joint_error: float


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How two releases differ.

    Attributes:
        same_universe: Whether both are over the same public cells.
        both: Figures that both publish.
        only: Figures that only the first publishes, and only the second.
        correlation: Of all figures, with 0 where one publishes none; None if that says nothing.
        beyond: How many of `both` differ by more than two joint standard errors; None if the
            figures carry no errors.
        largest: Those that differ most, in joint standard errors.
    """

    family: str
    same_universe: bool
    totals: tuple[float, float]
    both: int
    only: tuple[int, int]
    correlation: float | None
    beyond: int | None
    largest: tuple[Difference, ...]


def compare_releases(one: Path, other: Path) -> Comparison:
    """Compares two releases of the same type, figure by figure.

    Privacy:
        Reads two published releases and nothing else: it costs nothing.

    Raises:
        ReleaseError: One is no release, does not verify, or is of another type.
    """
    certificates = [verified(folder)[0] for folder in (one, other)]
    names = [certificate.terms.release_type for certificate in certificates]
    if names[0] != names[1]:
        raise ReleaseError(
            f"The releases are of different types: {names[0]} and {names[1]}.",
            advice="Compare releases of the same type.",
        )
    compared = family_certified(names[0]).compared
    if compared is None:
        raise ReleaseError(
            f"Releases of the type {names[0]} have no table to be compared by.",
            advice="Compare releases of another type.",
        )
    joined = _joined(_read(one, compared), _read(other, compared))
    values = _column(joined, _VALUE), _column(joined, f"{_VALUE}_b")
    there = ~np.isnan(values[0]), ~np.isnan(values[1])
    both = there[0] & there[1]
    errors = None
    if compared.error is not None:
        learnt = any(named(certificate) for certificate in certificates)
        errors = error_of_change(
            _column(joined, "error"), _column(joined, "error_b"), learnt=learnt
        )
    filled = np.nan_to_num(values[0]), np.nan_to_num(values[1])
    return Comparison(
        family=names[0],
        same_universe=len({one.terms.domain.digest for one in certificates}) == 1,
        totals=(float(filled[0].sum()), float(filled[1].sum())),
        both=int(both.sum()),
        only=(int((there[0] & ~both).sum()), int((there[1] & ~both).sum())),
        correlation=_correlation(*filled),
        beyond=None if errors is None else int(_apart(values, errors, both).sum()),
        largest=() if errors is None else _largest(joined, values, errors, both),
    )


def _read(folder: Path, compared: ComparedTable) -> pa.Table:
    """Returns names, values and errors of the figures of a release."""
    errors = [] if compared.error is None else [compared.error]
    path = folder / compared.file
    there = set(pq.read_schema(path).names)
    keys = [*compared.keys, *(key for key in compared.optional if key in there)]
    table = pq.read_table(path, columns=[*keys, _VALUE, *errors])
    names = [_text(table.column(key)) for key in keys]
    columns = {
        "figure": pc.binary_join_element_wise(*names, _BETWEEN),
        _VALUE: table.column(_VALUE).cast(pa.float64()),
    }
    if compared.error is not None:
        columns["error"] = table.column(compared.error).cast(pa.float64())
    return pa.table(columns)


def _text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_list(column.type):
        return pc.binary_join(column.cast(pa.list_(pa.string())), _BETWEEN)
    return column.cast(pa.string())


def _joined(one: pa.Table, other: pa.Table) -> pa.Table:
    found = one.join(other, "figure", join_type="full outer", right_suffix="_b")
    # A join comes in any order; the same question has the same answer.
    return found.sort_by("figure")


def _column(table: pa.Table, name: str) -> FloatArray:
    return np.asarray(table.column(name).to_numpy(), dtype=np.float64)


def _apart(values: tuple[FloatArray, FloatArray], errors: FloatArray, both: BoolArray) -> BoolArray:
    with np.errstate(invalid="ignore"):
        return np.asarray(both & (np.abs(values[0] - values[1]) > BEYOND * errors))


def _largest(
    joined: pa.Table, values: tuple[FloatArray, FloatArray], errors: FloatArray, both: BoolArray
) -> tuple[Difference, ...]:
    known = np.flatnonzero(both & (errors > 0))
    score = np.abs(values[0][known] - values[1][known]) / errors[known]
    order = known[np.argsort(-score, kind="stable")[:_SHOWN]]
    figures = joined.column("figure").take(pa.array(order)).to_pylist()
    return tuple(
        Difference(
            figure=figure.replace(_BETWEEN, " > "),
            one=float(values[0][cell]),
            other=float(values[1][cell]),
            joint_error=float(errors[cell]),
        )
        for figure, cell in zip(figures, order.tolist(), strict=True)
    )


def _correlation(one: FloatArray, other: FloatArray) -> float | None:
    if len(one) < 2 or one.std() == 0 or other.std() == 0:  # noqa: PLR2004  two points make a line
        return None
    return float(np.corrcoef(one, other)[0, 1])


def true_errors(release: Path, plan: Path, *, progress: Progress) -> Internal[TrueErrors]:
    """Compares a release with all rows of its plan.

    Privacy:
        Reads all exact rows, nobody's cut down: what it returns carries no guarantee and is refused
        by every writer of releases. It spends nothing, because nothing of it may be published.

    Args:
        plan: The plan that it was published with.

    Raises:
        ReleaseError: There is no release, or it does not verify.
        PlanError: The plan is not that of the release.
        DataError: Rows have problems that the plan refuses.
    """
    certificate, _ = verified(release)
    terms = certificate.terms
    family = family_certified(terms.release_type)
    if family.true_errors is None:
        raise ReleaseError(
            f"Releases of the type {family.name} cannot be compared with the truth.",
            advice="Compare a release of another type.",
        )
    job = prepare(load_plan(plan))
    same = job.terms.release_type == terms.release_type
    if not same or job.terms.domain.digest != terms.domain.digest:
        raise PlanError(
            f"The plan does not count {job.wording.counted} by the places and periods of the "
            "release.",
            advice="Give the plan that the release was published with, and its public files.",
        )
    return family.true_errors(release, job, exact_context(job, progress))

"""The terms of a release as they follow from its mechanism and its public cells."""

from collections.abc import Iterable
from typing import Any

from hushway.privacy.bound import Bound
from hushway.privacy.certificate import Contribution, Domain, MechanismRecord, Terms
from hushway.privacy.query import Cells
from hushway.privacy.unit import Unit
from hushway.release.mechanism import Forecast, Mechanism
from hushway.release.wording import not_protected


def terms_of(  # noqa: PLR0913  a certificate has as many sentences
    mechanism: Mechanism[Any, Any],
    cells: Cells,
    bound: Bound,
    *,
    family: str,
    unit: Unit,
    contribution: Contribution,
    assumed_public: tuple[str, ...],
    error: str,
    beyond: tuple[str, ...] = (),
) -> Terms:
    """Returns the terms of a release before it is measured.

    Args:
        mechanism: What will be run.
        cells: The public universe.
        bound: How far one unit can move the counts.
        family: The family of the release.
        unit: Who is protected.
        contribution: How much one unit may contribute, in words and limits.
        assumed_public: What is public knowledge, one sentence each.
        error: Typical error of one published cell, as a sentence.
        beyond: What this family does not protect beyond what no release does.
    """
    return Terms(
        family=family,
        mechanism=MechanismRecord(name=mechanism.name, parameters=mechanism.parameters),
        unit=unit,
        contribution=contribution,
        events=mechanism.events(cells, bound),
        domain=Domain(
            cells=cells.name, size=cells.size, digest=cells.digest, assumed_public=assumed_public
        ),
        not_protected=not_protected(unit, *beyond),
        post_processing=mechanism.post_processing,
        error=error,
    )


def listed(errors: Iterable[Forecast]) -> str:
    """Returns standard deviations, each with the figure that it is of."""
    return ", ".join(f"{one.standard_error:.3g} ({one.figure})" for one in errors)

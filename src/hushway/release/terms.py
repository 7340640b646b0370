"""The terms of a release as they follow from its mechanism, new or rebuilt from a certificate."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, TypeVar

from hushway.errors import HushwayError, ReleaseError
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.certificate import Contribution, Domain, MechanismRecord, Terms
from hushway.privacy.loss import Loss, Measure, exact, loss_of
from hushway.privacy.query import Cells
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


# Mechanisms as certificates state them: from public parameters back to what was run.
#
# A certificate names its mechanism by name and parameters. Built again from these, a mechanism says
# for itself what it measures, with which noise and for which price; whatever else stands on the
# certificate can be held against that.

M = TypeVar("M", bound=Mechanism[Any, Any])


def rebuilt(record: MechanismRecord, build: Callable[[Mapping[str, Any]], M]) -> M:
    """Returns the mechanism of a certificate.

    Args:
        record: Name and parameters.
        build: Makes a mechanism of parameters; it may fail in any way where they are wrong.

    Raises:
        ReleaseError: They are not those of a mechanism of this version.
    """
    try:
        mechanism = build(record.parameters)
        stated = MechanismRecord(name=mechanism.name, parameters=mechanism.parameters)
    except (HushwayError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
        stated = None
    if stated != record or not _is_typed(mechanism):
        raise ReleaseError(
            "The certificate's mechanism and parameters are not ones that this version runs.",
            advice="Verify with the version of hushway that the certificate names.",
        )
    return mechanism


def stated_losses(parameters: Mapping[str, Any]) -> list[Loss]:
    """Returns the `spends` of some parameters, in the currency that their `noise` is paid in."""
    measure = stated_measure(parameters)
    return [loss_of(measure, _amount(text)) for text in parameters["spends"]]


def stated_loss(parameters: Mapping[str, Any], question: str) -> Loss | None:
    """Returns what one question costs, where `spends` names each; None if it is not asked."""
    text = parameters["spends"][question]
    return None if text is None else loss_of(stated_measure(parameters), _amount(text))


def stated_measure(parameters: Mapping[str, Any]) -> Measure:
    """Returns the currency that the `noise` of some parameters is paid in."""
    return next(measure for measure in Measure if measure.noise == parameters["noise"])


def stated_limits(contribution: Contribution, *names: str) -> list[Any]:
    """Returns the limits of these names.

    Raises:
        ReleaseError: The certificate states others.
    """
    limits = contribution.limits
    if sorted(limits) != sorted(names):
        raise ReleaseError(
            f"The certificate does not limit contributions by {', '.join(names)}.",
            advice="Verify with the version of hushway that the certificate names.",
        )
    return [limits[name] for name in names]


def _is_typed(value: Any) -> bool:
    """Whether numbers and truths are of the types that they are declared with, all the way down.

    A certificate may hold true where a number belongs, and Python would count with it.
    """
    for record in fields(value):
        part = getattr(value, record.name)
        if record.type in (bool, int, float) and type(part) is not record.type:
            return False
        if record.init and is_dataclass(part) and not _is_typed(part):
            return False
    return True


def _amount(text: object) -> Fraction:
    if not isinstance(text, str):
        raise TypeError
    return exact(text)

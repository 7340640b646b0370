"""Computes the terms of a release from its mechanism, and checks certificates against them."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any, TypeVar

from hushway.errors import HushwayError, ReleaseError
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.calibration import noise_for
from hushway.privacy.certificate import (
    SOFTWARE,
    Certificate,
    Contribution,
    Domain,
    MechanismRecord,
    Terms,
)
from hushway.privacy.events import Event, GaussianEvent, LaplaceEvent
from hushway.privacy.loss import Loss, Measure, exact, loss_of
from hushway.privacy.query import Cells
from hushway.release.mechanism import Forecast, Mechanism
from hushway.release.wording import not_protected


def terms_of(  # noqa: PLR0913  a certificate has as many sentences
    mechanism: Mechanism[Any, Any],
    cells: Cells,
    bound: Bound,
    *,
    release_type: str,
    unit: Unit,
    contribution: Contribution,
    assumed_public: tuple[str, ...],
    error: str,
    beyond: tuple[str, ...] = (),
    counted: str = "",
) -> Terms:
    """Returns the terms of a release before it is measured.

    Args:
        assumed_public: What is public knowledge, one sentence each.
        error: Typical error of one published cell, as a sentence.
        beyond: What this family does not protect beyond what no release does.
        counted: Which days are counted, and how, where cells have periods.
    """
    return Terms(
        release_type=release_type,
        mechanism=MechanismRecord(name=mechanism.name, parameters=mechanism.parameters),
        unit=unit,
        contribution=contribution,
        events=mechanism.events(cells, bound),
        domain=Domain(
            cells=", ".join(filter(None, (cells.name, counted))),
            size=cells.size,
            digest=cells.digest,
            assumed_public=assumed_public,
        ),
        not_protected=not_protected(unit, *beyond),
        post_processing=mechanism.post_processing,
        error=error,
    )


def listed(errors: Iterable[Forecast]) -> str:
    """Returns standard deviations, each with the figure that it is of."""
    return ", ".join(f"{one.standard_error:.3g} ({one.figure})" for one in errors)


# A certificate states its mechanism by name and parameters. Rebuilt from these, a mechanism says
# what it measures, with which noise and at which price; the rest of the certificate is checked
# against that.

M = TypeVar("M", bound=Mechanism[Any, Any])


def rebuilt(record: MechanismRecord, build: Callable[[Mapping[str, Any]], M]) -> M:
    """Returns the mechanism of a certificate.

    Args:
        build: Makes a mechanism of parameters; it may fail in any way where they are wrong.
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
    """Returns the `spends` of some parameters, in the currency that their `noise` is spent in."""
    measure = stated_measure(parameters)
    return [loss_of(measure, _amount(text)) for text in parameters["spends"]]


def amounts_of(spends: object) -> dict[str, str | None]:
    """Returns the fields of some spends as `stated_loss` reads them; None is not asked."""
    losses: dict[str, Loss | None] = vars(spends)
    return {name: None if loss is None else str(loss.amount) for name, loss in losses.items()}


def stated_loss(parameters: Mapping[str, Any], question: str) -> Loss | None:
    """Returns what one question costs, where `spends` names each; None if it is not asked."""
    text = parameters["spends"][question]
    return None if text is None else loss_of(stated_measure(parameters), _amount(text))


def stated_measure(parameters: Mapping[str, Any]) -> Measure:
    """Returns the currency that the `noise` of some parameters is spent in."""
    return next(measure for measure in Measure if measure.noise == parameters["noise"])


def stated_limits(contribution: Contribution, *names: str) -> list[Any]:
    """Returns the limits of these names."""
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


TERMS_HOLD = (
    "Events, limits, noise and sentences are those that follow from the mechanism, the limits and "
    "the public lists."
)

_ROUNDING = 1e-9
_ADVICE = "Write each table with its own certificate."


def check_terms(certificate: Certificate, expected: Terms) -> None:
    """Makes sure that a certificate states just the terms that its mechanism and limits give."""
    certificate.terms.check_same(expected, software=SOFTWARE)


def check_release_type(certificate: Certificate, release_type: str) -> None:
    """Makes sure that a certificate is for a family of releases."""
    if certificate.terms.release_type != release_type:
        raise ReleaseError(
            f"The certificate is for the release type {certificate.terms.release_type!r}, not "
            f"for {release_type}.",
            advice=_ADVICE,
        )


def check_domain(certificate: Certificate, cells: Cells) -> None:
    """Makes sure that a certificate was made for some public lists."""
    domain = certificate.terms.domain
    if (domain.digest, domain.size) != (cells.digest, cells.size):
        raise ReleaseError(
            "The public lists are not those that the certificate was made for.", advice=_ADVICE
        )


def check_noise(terms: Terms, noise: Mapping[str, float]) -> None:
    """Makes sure that a table says of every measurement what noise the certificate says.

    Args:
        noise: Standard deviation of the noise in each measurement, by what was asked.
    """
    added = {
        event.query: noise_error(event)
        for event in terms.events
        if isinstance(event, LaplaceEvent | GaussianEvent)
    }
    if added.keys() != noise.keys() or not all(is_noise(noise[q], added[q]) for q in added):
        raise ReleaseError(
            "The noise that the table was fitted for is not that of the certificate's events.",
            advice=_ADVICE,
        )


def noise_fits(noise: object) -> bool:
    """Whether a data package states noise as numbers by what was asked."""
    return type(noise) is dict and all(type(error) is float for error in noise.values())


def noise_error(event: Event) -> float:
    """Returns the standard deviation of the noise of an event."""
    return math.sqrt(noise_for(event.loss, event.bound).variance)


def is_noise(stated: object, added: float) -> bool:
    """Whether a stated standard deviation is that of the noise that was added."""
    return isinstance(stated, float) and math.isclose(stated, added, rel_tol=_ROUNDING)


def refuse_numbers(what: str) -> ReleaseError:
    """Returns the error of numbers that another mechanism, or other noise, would have given."""
    return ReleaseError(
        f"The {what} of the table are not those of the mechanism that the certificate states.",
        advice=_ADVICE,
    )


# Where a mechanism that measures features names them among its public parameters.
PARAMETER = "published_totals"


@dataclass(frozen=True, kw_only=True)
class CertifiedFeature:
    """A feature as a certificate names it."""

    title: str
    elements: int
    digest: str

    @property
    def words(self) -> str:
        """Title and number of sums, for readers."""
        return f"{self.title} ({self.elements:,} {'sum' if self.elements == 1 else 'sums'})"


def certified_features(certificate: Certificate) -> tuple[CertifiedFeature, ...]:
    """Returns the features that a certificate names; none if only cells were measured."""
    named = certificate.terms.mechanism.parameters.get(PARAMETER, [])
    kinds = {"title": str, "elements": int, "digest": str}
    sound = isinstance(named, list) and all(
        isinstance(each, dict) and {key: type(value) for key, value in each.items()} == kinds
        for each in named
    )
    if not sound:
        raise ReleaseError(
            "The certificate does not name its published totals by title, elements and digest.",
            advice="Verify with the version of hushway that the certificate names.",
        )
    return tuple(CertifiedFeature(**each) for each in named)

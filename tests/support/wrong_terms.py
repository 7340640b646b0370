"""Terms that no mechanism of hushway states: one thing at a time is said otherwise."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hushway.privacy.bound import Bound, Unit
from hushway.privacy.certificate import Terms
from hushway.privacy.events import Event, GaussianEvent, LaplaceEvent, SelectEvent

_NOT_RUN = "not ones that this version runs"
_LIMITS = "contribution limits are not what"
_EVENTS = "its events are not what"
_CELLS = "public cells and assumptions are not what"


def less_noise(event: Event) -> Event:
    """Returns an event with half the noise, which costs more."""
    if isinstance(event, LaplaceEvent):
        return replace(event, scale=event.scale / 2)
    assert isinstance(event, GaussianEvent)
    return replace(event, sigma_squared=event.sigma_squared / 4)


def wider(event: Event) -> Event:
    """Returns an event of the same noise whose bound is wider, which costs more."""
    bound = event.bound
    wide = Bound(cells=bound.cells + 1, each=bound.each + 1, total=bound.total + 1)
    return replace(event, bound=wide)


def choice_of(event: Event) -> SelectEvent:
    """Returns a choice of one candidate in place of a measurement."""
    return SelectEvent(
        query=event.query, cells=event.cells, bound=event.bound, rate=Fraction(1, 100)
    )


def _other_limit(terms: Terms) -> dict[str, Any]:
    """One more of whatever comes first among the limits."""
    limits = dict(terms.contribution.limits)
    name = next(name for name, limit in limits.items() if type(limit) is int)
    return {"contribution": replace(terms.contribution, limits=limits | {name: limits[name] + 1})}


def _with_parameters(terms: Terms, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"mechanism": replace(terms.mechanism, parameters=parameters)}


def _without_the_first_parameter(terms: Terms) -> dict[str, Any]:
    _, *rest = terms.mechanism.parameters.items()
    return _with_parameters(terms, dict(rest))


# What is changed, and a part of what must be said about it; for the terms of every family.
WRONG_TERMS: dict[str, tuple[Callable[[Terms], dict[str, Any]], str]] = {
    "another mechanism": (
        lambda terms: {"mechanism": replace(terms.mechanism, name="magic")},
        f"'magic' is not one of|{_NOT_RUN}",
    ),
    "a further parameter": (
        lambda terms: _with_parameters(terms, {**terms.mechanism.parameters, "luck": 7}),
        _NOT_RUN,
    ),
    "a missing parameter": (_without_the_first_parameter, _NOT_RUN),
    "another unit": (lambda _: {"unit": Unit.DEVICE}, _LIMITS),
    "another limit": (_other_limit, _LIMITS),
    "other words for the limits": (
        lambda terms: {"contribution": replace(terms.contribution, words="All are counted.")},
        _LIMITS,
    ),
    "limits of something else": (
        lambda terms: {"contribution": replace(terms.contribution, limits={"years": 1})},
        f"does not limit contributions by|{_LIMITS}",
    ),
    "an event twice": (lambda terms: {"events": (*terms.events, terms.events[-1])}, _EVENTS),
    "less noise": (
        lambda terms: {"events": (*terms.events[:-1], less_noise(terms.events[-1]))},
        _EVENTS,
    ),
    "a wider bound": (
        lambda terms: {"events": (wider(terms.events[0]), *terms.events[1:])},
        _EVENTS,
    ),
    "other cells": (
        lambda terms: {
            "events": (replace(terms.events[0], cells=terms.events[0].cells + 1), *terms.events[1:])
        },
        _EVENTS,
    ),
    "a choice instead of a measurement": (
        lambda terms: {"events": (choice_of(terms.events[0]), *terms.events[1:])},
        _EVENTS,
    ),
    "something else that was not measured": (
        lambda terms: {"not_taken": (*terms.not_taken, replace(terms.events[0], query="heads"))},
        "charged for and not measured are not what",
    ),
    "another name for the cells": (
        lambda terms: {"domain": replace(terms.domain, cells="everything")},
        _CELLS,
    ),
    "fewer assumptions": (
        lambda terms: {
            "domain": replace(terms.domain, assumed_public=terms.domain.assumed_public[1:])
        },
        _CELLS,
    ),
    "less that is not protected": (
        lambda terms: {"not_protected": terms.not_protected[1:]},
        "list of what is not protected is not what",
    ),
    "no steps after the noise": (
        lambda _: {"post_processing": ()},
        "steps after the noise are not what",
    ),
    "a smaller error": (
        lambda _: {"error": "No count is off by more than 1."},
        "statement of typical errors is not what",
    ),
}

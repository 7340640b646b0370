"""A price tag and price curves as plain values."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hushway.errors import PlanError
from hushway.privacy.accounting import LARGE_DELTA
from hushway.privacy.loss import Measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hushway.privacy.loss import Loss
    from hushway.release.forecast.crowd import CrowdForecast, ExpectedPopulation
    from hushway.release.job import Job
    from hushway.release.plans.sections import LossPlan
    from hushway.steward.curves.curve import FigureError, PriceCurve
    from hushway.steward.price import Price


def crowd_of(trips: int | None, people: int | None) -> "ExpectedPopulation | None":
    """Returns a public guess of the crowd; None if nobody made one.

    Raises:
        PlanError: People were guessed, and trips were not.
    """
    from hushway.release.forecast.crowd import ExpectedPopulation

    if trips is not None:
        return ExpectedPopulation(trips=trips, people=people)
    if people is not None:
        raise PlanError(
            "A guess of people alone says nothing about trips.", advice="Give --trips too."
        )
    return None


def cost_text(job: "Job", loss: "Loss") -> str:
    """Returns what a release costs; a rho with the epsilon and delta that it was derived from."""
    from hushway.release.wording import budget_text, loss_text

    privacy = job.plan.privacy
    text = loss_text(loss)
    if loss.measure is Measure.ZCDP:
        text += f" ({budget_text(privacy.epsilon, privacy.delta)})"
    return f"{text} per {privacy.unit}"


def large_delta_text(privacy: "LossPlan") -> str:
    """Returns what a plan with a large delta risks, loudly."""
    from hushway.release.wording import budget_text

    return (
        f"{LARGE_DELTA}: {budget_text(privacy.epsilon, privacy.delta)}. With that chance the "
        f"epsilon bounds nothing, and all about one {privacy.unit} may show."
    )


def price_facts(job: "Job", tag: "Price") -> dict[str, Any]:
    """Returns what a release costs, and how good it would be."""
    account = tag.account
    return {
        "measure": tag.loss.measure,
        "cost": tag.loss.amount,
        "epsilon": job.plan.privacy.epsilon,
        "delta": job.plan.privacy.delta,
        "banner": LARGE_DELTA if job.plan.privacy.large_delta else None,
        "charge": tag.charge,
        "remaining": None if account is None else account.remaining,
        "affordable": tag.affordable,
        "obstacle": tag.obstacle,
        "cells": job.geography.size,
        "forecasts": [vars(forecast) for forecast in tag.forecasts],
        "expected": expected_facts(tag.expected),
        "noise": tag.noise,
    }


def expected_facts(expected: "CrowdForecast | None") -> dict[str, Any] | None:
    """Returns the errors that are foreseen for a guessed crowd."""
    if expected is None:
        return None
    return {
        **vars(expected.crowd),
        "errors": [{**vars(error), "share": error.share} for error in expected.errors],
        "left_out": expected.left_out,
        "notes": expected.notes,
    }


def curve_facts(curve: "PriceCurve") -> dict[str, Any]:
    """Returns errors by budget."""
    return {
        "foreseen": curve.foreseen,
        "counted": curve.counted,
        "delta": curve.delta,
        "curve": [point_facts(epsilon, point) for epsilon, point in curve.points.items()],
        "notes": curve.notes,
    }


def point_facts(epsilon: Fraction, point: "Sequence[FigureError]") -> dict[str, Any]:
    """Returns the errors at one budget."""
    return {
        "epsilon": epsilon,
        "errors": [{**vars(one), "share": one.share} for one in point],
    }

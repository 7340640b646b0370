"""A price tag and price curves as plain values."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hushway.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hushway.curves.curve import FigureError, PriceCurve
    from hushway.pricing import Price
    from hushway.release.crowd import CrowdForecast, ExpectedPopulation
    from hushway.release.job import Job


def crowd_of(trips: int | None, people: int | None) -> "ExpectedPopulation | None":
    """Returns a public guess of the crowd; None if nobody made one.

    Raises:
        PlanError: People were guessed, and trips were not.
    """
    from hushway.release.crowd import ExpectedPopulation

    if trips is not None:
        return ExpectedPopulation(trips=trips, people=people)
    if people is not None:
        raise PlanError(
            "A guess of people alone says nothing about trips.", advice="Give --trips too."
        )
    return None


def price_facts(job: "Job", tag: "Price") -> dict[str, Any]:
    """Returns what a release costs, and how good it would be."""
    account = tag.account
    return {
        "measure": tag.loss.measure,
        "cost": tag.loss.amount,
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
        "curve": [point_facts(epsilon, point) for epsilon, point in curve.points.items()],
        "notes": curve.notes,
    }


def point_facts(epsilon: Fraction, point: "Sequence[FigureError]") -> dict[str, Any]:
    """Returns the errors at one budget."""
    return {
        "epsilon": epsilon,
        "errors": [{**vars(one), "share": one.share} for one in point],
    }

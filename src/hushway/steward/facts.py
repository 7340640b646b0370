"""What verbs answer, as plain values: the JSON of the command line and of the workbench.

Exact numbers stay fractions here; whoever writes JSON turns them into text.
"""

from dataclasses import asdict
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any

from hushway.privacy.accounting import LARGE_DELTA
from hushway.privacy.bound import Unit
from hushway.privacy.loss import Measure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hushway.families.asking import Answered
    from hushway.families.comparison import Comparison
    from hushway.families.series import Series
    from hushway.geography.transit import BusLine
    from hushway.privacy.ledger import Account, Entry, Lost, PeopleLost
    from hushway.privacy.loss import Loss
    from hushway.release.folder.finding import Verification
    from hushway.release.folder.subject import Subject
    from hushway.release.forecast.crowd import CrowdForecast
    from hushway.release.forecast.true_errors import TrueErrors
    from hushway.release.job import Job
    from hushway.release.plans.sections import LossPlan
    from hushway.release.questions.answers import Answer
    from hushway.sites.releases import SiteRelease
    from hushway.steward.audit import AuditReport
    from hushway.steward.ledger import PeopleStatement, Statement
    from hushway.steward.price_curve import FigureError, PriceCurve
    from hushway.steward.price_tag import Price, SeriesPrice
    from hushway.steward.price_target import Enough
    from hushway.steward.publish import Published
    from hushway.steward.recommend import Recommendation
    from hushway.steward.worth import Proposal, Worth
    from hushway.steward.year import Year
    from hushway.tables.check import RowsChecked
    from hushway.transit.evaluation import FleetEvaluation
    from hushway.transit.judge import Drawn
    from hushway.transit.network_design import NetworkDesign
    from hushway.transit.shifts import Shifts
    from hushway.transit.traffic.evaluation import TrafficEvaluation
    from hushway.transit.traffic.judge import Spread, TrafficVerdict, TrueTraffic

ONLY_HERE = "your screen only: counted from your rows without noise; nothing of this is released"
INTERNAL_ROWS = "INTERNAL: depends on exact rows; not for release"
INTERNAL_TRIPS = "INTERNAL: depends on exact trips; not for release"

_SINGLE = (
    "Losses of a {unit} are those of ONE {unit}: somebody with k of them may have lost k times as "
    "much, so no sum for a person is guaranteed."
)
_OWNER = (
    "Losses of a {unit} are those of all that belongs to one {unit}: somebody with several may "
    "have lost that much for each."
)


def check_facts(checked: "RowsChecked") -> dict[str, Any]:
    """Returns what was found in rows, and whether they can be published."""
    found = checked.found
    return {
        "for": ONLY_HERE,
        "usable": not any(problem.refused for problem in checked.everything),
        "found": None if found is None else {**asdict(found), "dropped": found.dropped},
        "problems": [vars(problem) for problem in checked.everything],
        "worth": checked.worth,
    }


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


def price_facts(tag: "Price") -> dict[str, Any]:
    """Returns what a release costs, and how good it would be."""
    job, account = tag.job, tag.account
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
        "worth": worth_facts(tag.worth),
        "noise": tag.noise,
        "series": None if tag.series is None else _series_price_facts(tag.series),
        "year": _year_facts(tag.year),
    }


def _series_price_facts(found: "SeriesPrice") -> dict[str, Any]:
    return {
        "span": str(found.span),
        "limit": found.limit.amount,
        "charge": found.charge,
        "releases": found.releases,
        "sentence": found.sentence,
        "steps_of": dict(found.longer),
    }


def _year_facts(found: "Year | None") -> dict[str, Any] | None:
    """Returns what a year of a series would tell; None if there is none or nobody guessed."""
    if found is None:
        return None
    return {
        "share": found.share,
        "errors": [] if found.forecast is None else [vars(one) for one in found.forecast.errors],
        "notes": [] if found.forecast is None else found.forecast.notes,
        "lengths": [{**vars(one), "enough": one.is_enough} for one in found.lengths],
        "sentences": list(found.sentences),
    }


def worth_facts(worth: "Worth") -> dict[str, Any]:
    """Returns what would be known of a release."""
    known = None if worth.known is None else asdict(worth.known)
    return {"sentence": worth.sentence, "little": worth.little, "known": known}


def proposal_facts(found: "Proposal | None") -> dict[str, Any] | None:
    """Returns the finest places and periods of which enough would be known."""
    if found is None:
        return None
    return {
        "words": found.words,
        "sentence": found.sentence,
        "changes": found.changes,
        "worth": worth_facts(found.worth),
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
    return {"epsilon": epsilon, "errors": [figure_facts(one) for one in point]}


def figure_facts(one: "FigureError") -> dict[str, Any]:
    """Returns the error of one figure."""
    return {**vars(one), "share": one.share}


def enough_facts(found: "Sequence[Enough]") -> dict[str, Any]:
    """Returns the smallest budget for each target."""
    return {
        "within": [
            {
                "within": one.within,
                "epsilon": one.epsilon,
                "delta": one.delta,
                **figure_facts(one.found),
            }
            for one in found
        ]
    }


def recommendation_facts(found: "Recommendation") -> dict[str, Any]:
    """Returns what was tried and recommended for a guessed crowd."""
    return {
        "type": found.release_type,
        "guess": found.guess,
        "best": found.tried[0].options if found.tried else None,
        "measured": found.measured,
        # JSON has no word for infinity.
        "tried": [
            {**vars(choice), "score": choice.score if isfinite(choice.score) else None}
            for choice in found.tried
        ],
        "lines": found.lines,
        "could_add": found.could_add,
        "enough": found.enough,
        "worth": worth_facts(found.worth),
        "proposal": proposal_facts(found.proposal),
        "year": _year_facts(found.year),
    }


def published_facts(published: "Published") -> dict[str, Any]:
    """Returns which release was published, where, and what it cost."""
    certificate = published.certificate
    conversion = certificate.epsilon_delta
    return {
        "release": certificate.release_id,
        "folder": published.folder,
        "measure": certificate.claim.measure,
        "cost": certificate.claim.amount,
        "epsilon_delta": conversion and conversion.to_json(),
        "banner": certificate.banner,
    }


def dry_run_facts(tag: "Price") -> dict[str, Any]:
    """Returns what a release would take out of its account."""
    account = tag.account
    return {
        "spent": 0,
        "account": tag.job.account,
        "measure": None if account is None else account.budget_limit.measure,
        "charge": tag.charge,
        "remaining": None if account is None else account.remaining,
    }


def account_facts(account: "Account") -> dict[str, Any]:
    """Returns an account as it stands."""
    return {
        "dataset": account.key.dataset,
        "unit": account.key.unit,
        "period": account.key.period,
        "measure": account.budget_limit.measure,
        "budget_limit": account.budget_limit.amount,
        "delta": account.delta,
        "limit_at_delta": limit_at_delta(account),
        "spent": account.spent,
        "remaining": account.remaining,
        "span": None if account.span is None else str(account.span),
        "lifetime": account.lifetime,
        "opened_at": account.opened_at.isoformat(),
    }


def limit_at_delta(account: "Account") -> str | None:
    """Returns the budget limit as an epsilon with its delta, if the account was opened with one."""
    from hushway.privacy.accounting import epsilon_of_rho
    from hushway.release.wording import budget_text

    if account.delta is None:
        return None
    epsilon = Fraction(epsilon_of_rho(account.budget_limit.amount, account.delta))
    # A rho is kept to 12 digits, so its epsilon is a hair off the one that was asked for.
    return budget_text(epsilon.limit_denominator(10**6), account.delta)


def entry_facts(entry: "Entry") -> dict[str, Any]:
    """Returns an entry, hashes included and secrets left out."""
    return {
        "dataset": entry.key.dataset,
        "unit": entry.key.unit,
        "period": entry.key.period,
        "number": entry.number,
        "at": entry.at.isoformat(),
        "kind": entry.kind,
        "days": entry.window and entry.window.to_text(),
        "amount": entry.amount,
        "release": entry.release,
        "purpose": entry.purpose,
        "spent": entry.spent,
        "secret_digest": entry.secret_digest,
        "reference": entry.reference,
        "previous_hash": entry.previous_hash,
        "hash": entry.hash,
    }


def statement_facts(found: "Statement") -> dict[str, Any]:
    """Returns the accounts and entries of a ledger."""
    return {
        "accounts": [account_facts(account) for account in found.accounts],
        "entries": [entry_facts(entry) for entry in found.entries],
        "unpublished": [pending.release for pending in found.unpublished],
        "findings": found.findings,
        "cautions": found.cautions,
    }


def people_facts(found: "PeopleStatement") -> dict[str, Any]:
    """Returns what one person of each group may have lost."""
    return {
        "from": found.first,
        "to": found.last,
        "people": [lost_facts(group) for group in found.people],
        "findings": found.findings,
    }


def lost_facts(group: "PeopleLost") -> dict[str, Any]:
    """Returns what one of a group of people may have lost."""
    return {
        "people": group.people.name,
        "datasets": group.people.datasets,
        "lost": [
            {
                "unit": lost.unit,
                "releases": lost.releases,
                "epsilon": lost.epsilon,
                "rho": lost.rho,
                "all_as_rho": lost.together,
                "bounds_a_person": lost.unit is Unit.PERSON,
                "note": note_on(lost),
            }
            for lost in group.lost
        ],
    }


def note_on(lost: "Lost") -> str | None:
    """Returns what a sum of losses does not say, if it is not that of a person."""
    if lost.unit is Unit.PERSON:
        return None
    return (_OWNER if lost.owner else _SINGLE).format(unit=lost.unit)


def verification_facts(found: "Verification") -> dict[str, Any]:
    """Returns which release was verified, the result, what to beware of, and every check."""
    return {
        "release": None if found.subject is None else _subject_facts(found.subject),
        "result": str(found.result),
        "passed": found.passed,
        "warning": found.warning,
        "key_given": found.key_given,
        "checked_by": found.checked_by,
        "checks": [vars(check) for check in found.checks],
    }


def failed_facts(name: str, sentence: str) -> dict[str, Any]:
    """Returns the facts of a verification that came to no end."""
    return {
        "release": None,
        "result": "failed",
        "passed": False,
        "warning": None,
        "key_given": False,
        "checked_by": None,
        "checks": [{"name": name, "outcome": "failed", "sentence": sentence}],
    }


def _subject_facts(subject: "Subject") -> dict[str, Any]:
    signer = subject.signer
    return {
        "title": subject.title,
        "id": subject.release_id,
        "release_type": subject.release_type,
        "dataset": subject.dataset,
        "account_period": subject.account_period,
        "window": subject.window,
        "unit": subject.unit,
        "created_at": subject.created_at,
        "publisher": subject.publisher,
        "signed_by": None
        if signer is None
        else {"fingerprint": signer.fingerprint, "public_key": signer.raw.hex()},
        "certificate": subject.certificate,
    }


def comparison_facts(found: "Comparison") -> dict[str, Any]:
    """Returns how two releases differ."""
    return {**vars(found), "largest": [vars(difference) for difference in found.largest]}


def true_error_facts(found: "TrueErrors") -> dict[str, Any]:
    """Returns how far off a release is: depends on exact rows."""
    return {"internal": INTERNAL_ROWS, **vars(found)}


def audit_facts(report: "AuditReport") -> dict[str, Any]:
    """Returns what audits found, and how much they could have found."""
    return {
        "sound": report.sound,
        "quick": report.quick,
        "power": report.power,
        "findings": [vars(finding) for finding in report.findings],
        "mutants": [vars(mutant) for mutant in report.mutants],
    }


def answer_facts(answered: "Answered") -> dict[str, Any]:
    """Returns what a release answers; null for what has no end, or no error of its own."""
    return {
        **vars(answered),
        "notes": list(answered.notes),
        "answers": [_answer_facts(one) for one in answered.answers],
    }


def _answer_facts(one: "Answer") -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in vars(one).items()
    }


def series_facts(found: "Series") -> dict[str, Any]:
    """Returns what a series says as a whole: everything by step and longer, and its changes."""
    return {
        "step": found.step,
        "steps": found.steps,
        "missing": found.missing,
        "of": found.sentence,
        "counted": found.counted,
        "sums": {
            length: [_answer_facts(one) for one in found.sum(length)] for length in found.lengths
        },
        "changes": [_answer_facts(one) for one in found.changes()],
        "notes": found.notes({}),
    }


def site_facts(
    releases: "Sequence[SiteRelease]", *, to: "Path | None", one_file: "Path | None"
) -> dict[str, Any]:
    """Returns which releases are in a site, and where it is."""
    names = ("slug", "title", "release_type", "period", "stamp")
    return {
        "folder": None if to is None else str(to),
        "one_file": None if one_file is None else str(one_file),
        "releases": [{name: getattr(each, name) for name in names} for each in releases],
    }


def fleet_facts(found: "FleetEvaluation") -> dict[str, Any]:
    """Returns the fleet that a release asks for; with exact trips, also how it serves them."""
    verdict, shifts = found.verdict.value, found.drivers
    truth = verdict.truth
    return {
        "task": "fleet",
        "sentence": verdict.sentence,
        "internal": None if truth is None else INTERNAL_TRIPS,
        "fleet": _drawn(verdict.fleet),
        "at_least": verdict.first.at_least,
        "zones": [
            {
                "zone": zone.zone,
                "fleet": _drawn(zone.fleet),
                "at_least": zone.at_least,
                "truth": None if zone.truth is None else _drawn(zone.truth),
            }
            for zone in verdict.zones
        ],
        "drivers": None if shifts is None else _shifts(shifts),
        "truth": None
        if truth is None
        else {
            "fleet": _drawn(truth.fleet),
            "by_release": vars(truth.by_table),
            "by_truth": vars(truth.by_truth),
        },
    }


def _drawn(drawn: "Drawn") -> dict[str, Any]:
    facts = {"median": drawn.median, "least": drawn.least, "most": drawn.most}
    return {**facts, "draws": drawn.shuttles}


def _shifts(shifts: "Shifts") -> dict[str, Any]:
    each = zip(shifts.starts, shifts.lengths, shifts.drivers, strict=True)
    return {
        "total": shifts.total,
        "paid_hours": shifts.paid_periods,
        "shifts": [
            {"first_hour": int(start), "hours": int(length), "drivers": int(count)}
            for start, length, count in each
        ],
    }


def traffic_facts(found: "TrafficEvaluation") -> dict[str, Any]:
    """Returns the traffic that a release puts on roads; with exact trips, how far off it is."""
    verdict, truth = found.verdict.value, found.verdict.value.truth
    return {
        "task": "traffic",
        "sentence": verdict.sentence,
        "internal": None if truth is None else INTERNAL_TRIPS,
        "draws": len(verdict.days),
        "gap": max(day.gap for day in verdict.days),
        "off_roads": verdict.off_roads,
        "vehicle_hours": _spread(verdict.vehicle_hours),
        "vehicle_km": _spread(verdict.vehicle_km),
        "classes": _classes(verdict),
        "truth": None if truth is None else _true_traffic(truth),
    }


def _spread(found: "Spread") -> dict[str, float | None]:
    ends = {"low": float(found.low), "high": float(found.high)}
    told = {name: value if isfinite(value) else None for name, value in ends.items()}
    return {"mean": float(found.mean), **told}


def _classes(verdict: "TrafficVerdict") -> list[dict[str, Any]]:
    roads, classes = verdict.days[0].roads, []
    for number in sorted(set(roads.road_class.tolist())):
        links = roads.road_class == number
        volumes = verdict.volumes.mean[links]
        km = float(volumes @ roads.length[links]) / 1000
        hours = float(volumes @ verdict.seconds.mean[links]) / 3600
        speed = km / hours if hours else None
        facts = {"class": number, "links": int(links.sum())}
        classes.append({**facts, "vehicle_km": km, "speed_kmh": speed})
    return classes


def _true_traffic(truth: "TrueTraffic") -> dict[str, Any]:
    return {
        "vehicle_hours": truth.day.vehicle_hours,
        "vehicle_km": truth.day.vehicle_km,
        "speed_rmse_kmh": truth.speed_rmse_kmh,
        "sizes": [vars(size) for size in truth.sizes],
    }


def design_facts(found: "NetworkDesign") -> dict[str, Any]:
    """Returns the hubs and lines of a network, and what they cost."""
    ids = found.network.locations.ids
    names = ("cost_h", "shuttles_only_h", "at_least_h", "trips", "designed_share", "bus_share")
    return {
        "candidates": [ids[place] for place in found.candidates],
        "hubs": [ids[hub] for hub in found.network.hubs],
        "lines": [_line(line, ids) for line in found.network.lines],
        **{name: getattr(found, name) for name in names},
    }


def _line(line: "BusLine", ids: tuple[str, ...]) -> dict[str, Any]:
    return {
        "name": line.name,
        "stops": [ids[stop] for stop in line.stops],
        "headway_s": line.headway_s,
        "ride_s": line.ride_s,
    }

"""Previews: what a release would look like at a budget, by its mechanism on invented rows.

Privacy:
    Neither rows nor ledger are touched. Everything follows from public files and a guess, the noise
    from a fixed seed, and whatever is drawn is stamped as invented.
"""

import base64
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from hushway.errors import HushwayError
from hushway.families.registry import contents_of, family_named
from hushway.privacy.certificate import Certificate
from hushway.privacy.ledger import Account
from hushway.privacy.loss import exact, total
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.forecast.rehearsal import rehearsed
from hushway.release.job import Job
from hushway.steward.certify import draft_certificate
from hushway.steward.facts import figure_facts
from hushway.steward.jobs import job_of
from hushway.steward.price_curve import FigureError, errors_at
from hushway.steward.price_tag import can_be_foreseen, crowd_of
from hushway.workbench.preview_fleet import sized_fleet
from hushway.workbench.worker_events import EventWriter

_USUAL: Final = 10_000
_SEED: Final = 1


class InventedCertificate(Certificate):
    """What stands on a picture of invented rows. It is never written anywhere else."""

    @property
    def stamp(self) -> str:
        """What is written across the picture."""
        return "INVENTED"


def preview_release(file: Path, options: Mapping[str, Any], events: EventWriter) -> dict[str, Any]:
    """Publishes invented rows at a budget, and draws what comes out.

    Raises:
        HushwayError: The plan or the guess makes no sense.
    """
    crowd = crowd_of(options.get("trips"), options.get("people"))
    if crowd is None:
        crowd = ExpectedPopulation(trips=_USUAL)
    planned = job_of(file)
    family = family_named(planned.plan.release_type)
    job = _at(planned, exact(options["epsilon"]))
    answer: dict[str, Any] = {
        "picture": None,
        "caption": f"Invented {family.guessed} of about that number over your own public files: "
        "what the mechanism makes of them at this budget. Nothing here is about anybody.",
        "errors": [figure_facts(one) for one in _errors(job, crowd)],
        "fleet": None,
        "note": None,
    }
    invent = family.invented_rows
    if invent is None:
        answer["note"] = f"No rows are invented for the release type {family.name}."
        return answer
    events.progress(f"Inventing {family.guessed}")
    try:
        counter = invent(job, crowd)
    except HushwayError as reason:
        answer["note"] = f"{reason} {reason.advice}"
        return answer
    table = rehearsed(job, counter, progress=events.progress)
    events.progress("Drawing")
    picture = contents_of(table).picture(_certificate(job))
    answer["picture"] = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    answer["fleet"] = sized_fleet(job, table, counter, file.parent, events)
    return answer


def _at(job: Job, epsilon: Fraction) -> Job:
    privacy = job.plan.privacy.model_copy(update={"epsilon": epsilon})
    plan = job.plan.model_copy(update={"privacy": privacy})
    return family_named(plan.release_type).replan(job, plan)


def _errors(job: Job, crowd: ExpectedPopulation) -> tuple[FigureError, ...]:
    """Returns errors of what is published where they can be foreseen, else noise."""
    foreseen = can_be_foreseen(job)
    try:
        return errors_at(job, job.plan.privacy.epsilon, crowd if foreseen else None)[0]
    except HushwayError:
        # Such as a density without a guess of people.
        return errors_at(job, job.plan.privacy.epsilon, None)[0]


def _certificate(job: Job) -> InventedCertificate:
    """Returns what the picture says about itself; its account is as invented as its rows."""
    account = Account(
        key=job.account,
        budget_limit=total(job.mechanism.losses),
        delta=None,
        spent=Fraction(0),
        lifetime=Fraction(0),
        opened_at=datetime.now(UTC),
    )
    draft = draft_certificate(job, account, SeededSource(_SEED))
    return InventedCertificate(**{one.name: getattr(draft, one.name) for one in fields(draft)})

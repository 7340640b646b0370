"""The tasks of a worker process: each calls the verb of the same name, and adds what pages show."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from hushway.errors import PlanError, ReleaseError
from hushway.privacy.loss import exact
from hushway.release.job import Job
from hushway.steward.facts import (
    account_facts,
    answer_facts,
    check_facts,
    cost_text,
    curve_facts,
    point_facts,
    price_facts,
    proposal_facts,
)
from hushway.steward.jobs import job_of
from hushway.tables.check import RowsChecked
from hushway.workbench.data_files import free_name
from hushway.workbench.worker_events import EventWriter

Options = Mapping[str, Any]


def check(file: Path, options: Options, events: EventWriter) -> dict[str, Any]:
    """Explains plan and rows: exact, for the steward's own eyes."""
    from hushway.steward.aliases import write_aliases
    from hushway.steward.check import check as check_plan

    def checked_now() -> tuple[Job, RowsChecked]:
        job = job_of(file, rows=True)
        return job, check_plan(job, progress=events.progress, passphrase=_no_passphrase)

    job, checked = checked_now()
    if options.get("aliases"):
        write_aliases(file, checked, free_name(file.parent, "aliases", ".csv"))
        # What is shown is the plan with its new names.
        job, checked = checked_now()
    words = {"universe": job.wording.universe, "rows": job.wording.rows}
    return {**check_facts(checked), **words}


def price(file: Path, options: Options, events: EventWriter) -> dict[str, Any]:
    """Forecasts cost and errors without touching rows or budget."""
    from hushway.steward.price import price as price_plan
    from hushway.steward.price_tag import can_be_foreseen, crowd_of
    from hushway.steward.worth import propose

    crowd = crowd_of(options.get("trips"), options.get("people"))
    tag = price_plan(
        file,
        trips=options.get("trips"),
        people=options.get("people"),
        progress=events.progress,
    )
    return {
        **price_facts(tag),
        "loss": cost_text(tag.job, tag.loss),
        "account": None if tag.account is None else account_facts(tag.account),
        "account_key": str(tag.job.account),
        "counted": tag.job.wording.counted,
        "can_be_foreseen": can_be_foreseen(tag.job),
        "proposal": proposal_facts(
            None if crowd is None or not tag.worth.little else propose(tag.job, crowd)
        ),
    }


def curve(file: Path, options: Options, events: EventWriter) -> dict[str, Any]:
    """Forecasts errors at several budgets, and sends each as soon as it is known."""
    from hushway.steward.price_curve import price_curve
    from hushway.steward.price_tag import crowd_of

    found = price_curve(
        job_of(file),
        tuple(dict.fromkeys(exact(text) for text in options["epsilons"])),
        crowd=crowd_of(options.get("trips"), options.get("people")),
        progress=events.progress,
        tell=lambda epsilon, point: events.part(point_facts(epsilon, point)),
    )
    return curve_facts(found)


def preview(file: Path, options: Options, events: EventWriter) -> dict[str, Any]:
    """Shows what a release would look like, on invented rows."""
    from hushway.workbench.preview import preview_release

    return preview_release(file, options, events)


def account(file: Path, options: Options, _events: EventWriter) -> dict[str, Any]:
    """Opens the account that a plan spends from, with a limit that can never be raised."""
    from hushway.steward import ledger

    opened = ledger.open(file, epsilon=options["epsilon"], delta=options.get("delta"))
    return account_facts(opened)


def publish(file: Path, options: Options, events: EventWriter) -> dict[str, Any]:
    """Spends budget on a release.

    Raises:
        PlanError: The plan has changed since the budget was typed.
    """
    from hushway.release.wording import claim_text
    from hushway.steward.publish import publish as publish_plan

    def refuse_changed(job: Job) -> None:
        if job.plan.privacy.epsilon != exact(options["confirm"]):
            raise PlanError(
                "The plan has changed since its budget was typed. Nothing was spent.",
                advice="Look at the plan again, and confirm what it costs now.",
            )

    published = publish_plan(
        file,
        anyway=options.get("anyway") is True,
        progress=events.progress,
        passphrase=_no_passphrase,
        confirm=refuse_changed,
    )
    certificate = published.certificate
    return {
        "release": certificate.release_id,
        "folder": published.folder.name,
        "claim": claim_text(certificate),
    }


def ask(file: Path, options: Options, _events: EventWriter) -> dict[str, Any]:
    """Adds up what the plan has published: no rows are read, and it costs nothing."""
    from hushway.families.asking import ask as ask_release
    from hushway.families.load import load_plan

    plan = load_plan(file)
    return answer_facts(ask_release(plan.path(plan.release.folder), where=options["where"]))


def verify(file: Path, _options: Options, events: EventWriter) -> dict[str, Any]:
    """Recomputes what the plan's release claims, and fits it again where its noisy answers are."""
    from hushway.families.load import load_plan
    from hushway.families.sealed import sealed_release
    from hushway.release.folder.answers import ANSWERS
    from hushway.release.others import named
    from hushway.steward.facts import verification_facts
    from hushway.steward.verify import verify as verify_release

    plan = load_plan(file)
    folder = plan.path(plan.release.folder)
    certificate, seal = sealed_release(folder)
    events.progress("Fitting it again from its noisy answers")
    series = folder.parent if named(certificate) else None
    return verification_facts(
        verify_release(folder, ledger=plan, refit=seal.names(ANSWERS), series=series)
    )


def revise(file: Path, options: Options, events: EventWriter) -> dict[str, Any]:
    """Fits the plan's release again with the other steps of its series, into another folder."""
    from hushway.families.load import load_plan
    from hushway.release.others import Vintage
    from hushway.steward.revise import revise as revise_release

    plan = load_plan(file)
    folder, key = plan.path(plan.release.folder), plan.release.signing_key
    kind = Vintage.FINAL if options["final"] else Vintage.REVISED
    to = free_name(plan.path("revised"), f"{folder.name}-{kind}", "")
    revised = revise_release(
        folder,
        series=folder.parent,
        to=to,
        final=options["final"],
        signing_key=None if key is None else plan.path(key),
        passphrase=_no_passphrase,
        progress=events.progress,
    )
    return {"folder": f"{revised.parent.name}/{revised.name}"}


def _no_passphrase() -> str | None:
    raise ReleaseError(
        "The signing key has a passphrase, and the workbench never asks for one. Nothing was "
        "spent.",
        advice="Use the command line, which asks for it: hushway publish, or hushway revise",
    )


TASKS: Final[Mapping[str, Callable[[Path, Options, EventWriter], dict[str, Any]]]] = {
    "check": check,
    "price": price,
    "curve": curve,
    "preview": preview,
    "account": account,
    "publish": publish,
    "ask": ask,
    "verify": verify,
    "revise": revise,
}

"""What each kind of task does: what the command of the same name does, by the same functions."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from hushway.errors import PlanError, ReleaseError
from hushway.facts.check import check_facts
from hushway.facts.ledger import account_facts
from hushway.facts.price import cost_text, crowd_of, curve_facts, point_facts, price_facts
from hushway.families.load import load_plan, prepare
from hushway.privacy.loss import exact
from hushway.release.plans.sections import AnyPlan
from hushway.workbench.voice import Voice

Options = Mapping[str, Any]


def check(file: Path, _options: Options, voice: Voice) -> dict[str, Any]:
    """Explains plan and rows: exact, for the steward's own eyes."""
    from hushway.release.job import settings_of
    from hushway.steward.check import check as check_job

    job = prepare(load_plan(file), rows=True)
    checked = check_job(job, progress=voice.progress, passphrase=_ask_nobody)
    return {
        **check_facts(checked, settings_of(job.plan)),
        "universe": job.wording.universe,
        "rows": job.wording.rows,
    }


def price(file: Path, options: Options, voice: Voice) -> dict[str, Any]:
    """Forecasts cost and errors without touching rows or budget."""
    from hushway.steward.price import can_be_foreseen
    from hushway.steward.price import price as price_of

    crowd = crowd_of(options.get("trips"), options.get("people"))
    job = prepare(load_plan(file))
    if crowd is not None:
        voice.progress("Trying the plan on invented rows")
    tag = price_of(job, crowd=crowd)
    return {
        **price_facts(job, tag),
        "loss": cost_text(job, tag.loss),
        "account": None if tag.account is None else account_facts(tag.account),
        "account_key": str(job.account),
        "counted": job.wording.counted,
        "can_be_foreseen": can_be_foreseen(job),
    }


def curve(file: Path, options: Options, voice: Voice) -> dict[str, Any]:
    """Forecasts errors at several budgets, and tells each as soon as it is known."""
    from hushway.steward.curves.curve import price_curve

    crowd = crowd_of(options.get("trips"), options.get("people"))
    epsilons = tuple(dict.fromkeys(exact(text) for text in options["epsilons"]))
    found = price_curve(
        prepare(load_plan(file)),
        epsilons,
        crowd=crowd,
        progress=voice.progress,
        tell=lambda epsilon, point: voice.part(point_facts(epsilon, point)),
    )
    return curve_facts(found)


def standin(file: Path, options: Options, voice: Voice) -> dict[str, Any]:
    """Shows what a release would look like, on invented rows."""
    from hushway.workbench.standin import stand_in

    return stand_in(file, options, voice)


def account(file: Path, options: Options, _voice: Voice) -> dict[str, Any]:
    """Opens the account that a plan spends from, with a limit that can never be raised."""
    from hushway.steward.accounts import open_account

    job = prepare(load_plan(file))
    opened = open_account(job, epsilon=options["epsilon"], delta=options.get("delta"))
    return account_facts(opened)


def publish(file: Path, options: Options, voice: Voice) -> dict[str, Any]:
    """Spends budget on a release, as `hushway publish` does.

    Raises:
        PlanError: The plan has changed since the budget was typed.
    """
    from hushway.release.plans.missing import refuse_missing
    from hushway.release.wording import claim_text
    from hushway.steward.publish import publish as publish_job
    from hushway.warming.background import Compiling, rehearsal_of

    plan = load_plan(file)
    _refuse_changed(plan, options["confirm"])
    refuse_missing(plan, rows=True)
    with Compiling(rehearsal_of(plan)) as compiling:
        published = publish_job(
            prepare(plan, rows=True),
            progress=voice.progress,
            passphrase=_ask_nobody,
            before_spending=compiling.wait,
        )
    certificate = published.certificate
    return {
        "release": certificate.release_id,
        "folder": published.folder.name,
        "claim": claim_text(certificate),
    }


def _refuse_changed(plan: AnyPlan, confirmed: str) -> None:
    """Makes sure that what is about to be spent is what somebody has typed.

    Raises:
        PlanError: It is not.
    """
    if plan.privacy.epsilon != exact(confirmed):
        raise PlanError(
            "The plan has changed since its budget was typed. Nothing was spent.",
            advice="Look at the plan again, and confirm what it costs now.",
        )


def _ask_nobody() -> str | None:
    raise ReleaseError(
        "The signing key has a passphrase, and the workbench never asks for one. Nothing was "
        "spent.",
        advice="Publish with the command line, which asks for it: hushway publish PLAN",
    )


WORK: Final[Mapping[str, Callable[[Path, Options, Voice], dict[str, Any]]]] = {
    "check": check,
    "price": price,
    "curve": curve,
    "standin": standin,
    "account": account,
    "publish": publish,
}

"""The verb `price`: cost and errors of a release, at the plan's budget or at others."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import overload

from hushway.errors import PlanError, PrivacyError
from hushway.privacy.loss import exact
from hushway.progress import Progress, quiet
from hushway.release.folder.new_file import refuse_taken, write_new
from hushway.steward.jobs import PlanLike, job_of
from hushway.steward.price_curve import PriceCurve, price_curve
from hushway.steward.price_tag import Price, crowd_of, price_tag
from hushway.steward.price_target import Enough, smallest_epsilon, target_of
from hushway.steward.year import year_of

Budgets = str | Sequence[Fraction | str | int]


@overload
def price(
    plan: PlanLike,
    *,
    trips: int | None = None,
    people: int | None = None,
    progress: Progress = quiet,
) -> Price: ...


@overload
def price(
    plan: PlanLike,
    *,
    trips: int | None = None,
    people: int | None = None,
    epsilon: Budgets,
    picture: Path | None = None,
    progress: Progress = quiet,
    step: str | None = None,
) -> PriceCurve: ...


@overload
def price(
    plan: PlanLike,
    *,
    trips: int | None = None,
    people: int | None = None,
    within: Sequence[str],
    progress: Progress = quiet,
) -> tuple[Enough, ...]: ...


@overload
def price(
    plan: PlanLike,
    *,
    trips: int | None = None,
    people: int | None = None,
    epsilon: Budgets | None = None,
    within: Sequence[str] | None = None,
    picture: Path | None = None,
    progress: Progress = quiet,
    step: str | None = None,
) -> Price | PriceCurve | tuple[Enough, ...]: ...


def price(  # noqa: PLR0913  one argument for each option
    plan: PlanLike,
    *,
    trips: int | None = None,
    people: int | None = None,
    epsilon: Budgets | None = None,
    within: Sequence[str] | None = None,
    picture: Path | None = None,
    progress: Progress = quiet,
    step: str | None = None,
) -> Price | PriceCurve | tuple[Enough, ...]:
    """Forecasts cost and errors.

    Privacy:
        Reads the plan, public files and the ledger; neither rows nor budget are touched. What is
        foreseen for a crowd is as public as the guess: one that was counted from rows is not.

    Args:
        plan: A plan's file, a plan, or a prepared job.
        trips: A public guess of the trips in the window; with it the errors of what is published
            are foreseen, not only the noise that goes in.
        people: A public guess of the people who make them.
        epsilon: Other budgets, such as ".25,.5,1,2": their errors are returned instead.
        within: Targets such as "origins=5%": the smallest epsilon for each is returned instead.
        picture: With `epsilon`: a PNG or SVG file to draw the errors into.
        progress: Told in a few words what is being done.
        step: Of a series, the step; the plan's own if left out.

    Raises:
        PlanError: The family cannot foresee errors, or the guess or another option makes no sense.

    Example:
        >>> hushway.price("plan.toml").affordable
        True
    """
    crowd = crowd_of(trips, people)
    _refuse_mixed(epsilon, within, picture)
    budgets = None if epsilon is None else _budgets(epsilon)
    job = job_of(plan, step=step)
    if within:
        targets = [target_of(text) for text in dict.fromkeys(within)]
        return tuple(
            smallest_epsilon(job, target, crowd=crowd, progress=progress) for target in targets
        )
    if budgets is None:
        if crowd is not None:
            progress("Trying the plan on invented rows")
        tag = price_tag(job, crowd=crowd, progress=progress)
        return replace(tag, year=year_of(job, crowd, progress=progress))
    if picture is not None:
        # Matplotlib takes long to load.
        from hushway.steward.price_picture import draw_curve, refuse_format

        refuse_format(picture)
        refuse_taken(picture)
    curve = price_curve(job, budgets, crowd=crowd, progress=progress)
    if picture is not None:
        progress("Drawing")
        write_new(picture, draw_curve(curve, picture.suffix.lower().lstrip(".")))
    return curve


def _refuse_mixed(
    epsilon: Budgets | None, within: Sequence[str] | None, picture: Path | None
) -> None:
    if epsilon is not None and within:
        raise PlanError(
            "--epsilon names budgets, and --within looks for one.", advice="Give one of the two."
        )
    if picture is not None and epsilon is None:
        raise PlanError(
            "A picture shows errors at several budgets.", advice="Name them: --epsilon .25,.5,1,2"
        )


def _budgets(given: Budgets) -> tuple[Fraction, ...]:
    parts = [part.strip() for part in given.split(",")] if isinstance(given, str) else given
    try:
        found = tuple(dict.fromkeys(exact(part) for part in parts))
    except PrivacyError:
        found = ()
    if not found or min(found) <= 0:
        raise PlanError(
            f"{given!r} are not budgets.", advice="Write them like this: --epsilon .25,.5,1,2"
        )
    return found

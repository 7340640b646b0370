"""What a fleet that is planned from a release would be worth."""

from pathlib import Path
from typing import TYPE_CHECKING

from hushway.progress import Progress, quiet

if TYPE_CHECKING:
    from hushway.transit.evaluation import FleetEvaluation


def evaluate(  # noqa: PLR0913
    release: Path | str,
    *,
    network: Path | str | None = None,
    gtfs: Path | str | None = None,
    plan: Path | str | None = None,
    draws: int = 20,
    day: str | None = None,
    hours: str | None = None,
    progress: Progress = quiet,
) -> "FleetEvaluation":
    """Sizes the fleet of an on-demand transit system by an OD release; costs no budget.

    Privacy:
        With a plan all exact trips are counted, without noise: the verdict is Internal then, for
        the steward's own eyes.

    Args:
        release: The folder of an OD release.
        network: A file with hubs and bus lines.
        gtfs: A feed to take them from instead.
        plan: The release's plan, to compare with the exact trips.
        draws: How many days are drawn.
        day: A weekday or a date, if the release tells them apart.
        hours: Such as "08:00-10:00"; the whole day unless said.
        progress: Told in a few words what is being done.

    Raises:
        HushwayError: Something was wrong; the message says what, and what to do.

    Example:
        >>> found = hushway.evaluate("release", draws=2)
        >>> found.verdict.value.sentence
        'fleet ... vehicles...'
    """
    from hushway.transit.day_demand import hours_of
    from hushway.transit.evaluation import FleetQuestion, evaluate_fleet

    question = FleetQuestion(
        network=None if network is None else Path(network),
        gtfs=None if gtfs is None else Path(gtfs),
        plan=None if plan is None else Path(plan),
        draws=draws,
        day=day,
        hours=None if hours is None else hours_of(hours),
    )
    return evaluate_fleet(Path(release), question, progress=progress)

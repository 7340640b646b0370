"""The verbs `evaluate` and `design`: fleets, traffic, and bus lines that a city would build."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hushway.errors import PlanError
from hushway.progress import Progress, quiet
from hushway.release.folder.new_file import refuse_taken, write_new
from hushway.transit.day_demand import hours_of

if TYPE_CHECKING:
    from hushway.transit.evaluation import FleetEvaluation
    from hushway.transit.network_design import NetworkDesign
    from hushway.transit.traffic.evaluation import TrafficEvaluation

FLEET, TRAFFIC = "fleet", "traffic"


def evaluate(  # noqa: PLR0913
    release: Path | str,
    *,
    task: str = FLEET,
    network: Path | str | None = None,
    gtfs: Path | str | None = None,
    plan: Path | str | None = None,
    draws: int = 20,
    day: str | None = None,
    hours: str | None = None,
    mean_wait: int = 180,
    shifts: str | Sequence[int] | None = None,
    picture: Path | str | None = None,
    vehicles_per_trip: float = 1.0,
    to: Path | str | None = None,
    progress: Progress = quiet,
) -> "FleetEvaluation | TrafficEvaluation":
    """Judges an OD release by a fleet sized for it, or by its traffic on roads; costs no budget.

    Privacy:
        With a plan all exact trips are counted, without noise: the verdict is Internal then, for
        the steward's own eyes.

    Args:
        release: The folder of an OD release.
        task: What the release is to be good for: "fleet" or "traffic".
        network: A file with hubs and bus lines; for traffic, the roads, in any format of links.
        gtfs: A feed to take hubs and bus lines from instead.
        plan: The release's plan, to compare with the exact trips.
        draws: How many days are drawn.
        day: A weekday or a date, if the release tells them apart.
        hours: Such as "08:00-10:00"; the whole day unless said.
        mean_wait: The longest mean wait for a shuttle, in seconds.
        shifts: How many hours drivers' shifts may last, such as "4,8"; none are planned without.
        picture: A PNG file to draw the network and its fleet into.
        vehicles_per_trip: For traffic, how many vehicles a trip puts on the road.
        to: For traffic, a CSV file to write: volume, speed and time of every link.
        progress: Told in a few words what is being done.

    Raises:
        HushwayError: Something was wrong; the message says what, and what to do.

    Example:
        >>> found = hushway.evaluate("release", draws=2)
        >>> found.verdict.value.sentence
        'fleet ... vehicles...'
    """
    from hushway.transit.evaluation import FleetQuestion, evaluate_fleet
    from hushway.transit.traffic.evaluation import TrafficQuestion, evaluate_traffic

    window = None if hours is None else hours_of(hours)
    _refuse_existing(picture, to)
    if task == TRAFFIC:
        _refuse_others(TRAFFIC, gtfs=gtfs, shifts=shifts, picture=picture)
        traffic = TrafficQuestion(
            roads=_roads(network),
            plan=_path(plan),
            draws=draws,
            day=day,
            hours=window,
            vehicles_per_trip=vehicles_per_trip,
        )
        judged = evaluate_traffic(Path(release), traffic, progress=progress)
        if to is not None:
            judged.write(Path(to))
        return judged
    if task != FLEET:
        raise PlanError(f"There is no task {task!r}.", advice=f"Choose {FLEET} or {TRAFFIC}.")
    _refuse_others(FLEET, to=to)
    question = FleetQuestion(
        network=_path(network),
        gtfs=_path(gtfs),
        plan=_path(plan),
        draws=draws,
        day=day,
        hours=window,
        mean_wait_s=mean_wait,
        shift_hours=_lengths(shifts) if isinstance(shifts, str) else tuple(shifts or ()),
    )
    found = evaluate_fleet(Path(release), question, progress=progress)
    if picture is not None:
        progress("Drawing")
        write_new(Path(picture), found.picture("The fleet that the release asks for"))
    return found


def design(  # noqa: PLR0913
    release: Path | str,
    network: Path | str,
    *,
    candidates: int = 12,
    day: str | None = None,
    hours: str | None = None,
    headway: float = 7.5,
    picture: Path | str | None = None,
    progress: Progress = quiet,
) -> "NetworkDesign":
    """Designs bus lines between the busiest places of an OD release; costs no budget.

    Privacy:
        Only the published release is read.

    Args:
        release: The folder of an OD release.
        network: The network file to write, for `evaluate`.
        candidates: How many of the busiest places may become hubs.
        day: A weekday or a date, if the release tells them apart.
        hours: Such as "08:00-10:00"; the whole day unless said.
        headway: Minutes from one bus to the next.
        picture: A PNG file to draw the network and its fleet into.
        progress: Told in a few words what is being done.

    Raises:
        HushwayError: Something was wrong; the message says what, and what to do.
    """
    from hushway.transit.network_design import DesignQuestion, design_network

    question = DesignQuestion(
        candidates=candidates,
        day=day,
        hours=None if hours is None else hours_of(hours),
        headway_min=headway,
    )
    _refuse_existing(network, picture)
    found = design_network(Path(release), question, progress=progress)
    if picture is not None:
        progress("Drawing")
        title = f"Bus lines for the trips of {Path(release).name}"
        write_new(Path(picture), found.picture(title))
    found.write(Path(network))
    return found


def _refuse_existing(*files: Path | str | None) -> None:
    for file in files:
        if file is not None:
            refuse_taken(Path(file))


def _refuse_others(task: str, **given: object) -> None:
    """Makes sure that nothing was asked that only another task answers."""
    unfit = [name for name, value in given.items() if value is not None]
    if unfit:
        raise PlanError(f"The task {task} has no {unfit[0]}.", advice="Leave it out.")


def _roads(network: Path | str | None) -> Path:
    if network is None:
        raise PlanError(
            "Traffic needs roads.",
            advice="Give a public road network, such as --network roads.osm.pbf.",
        )
    return Path(network)


def _path(name: Path | str | None) -> Path | None:
    return None if name is None else Path(name)


def _lengths(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise PlanError(
            f"{text!r} are not lengths of shifts.", advice="Write hours like this: 4,8."
        )
    return tuple(int(part) for part in parts)

"""What a city would do with a release: its bus lines, its fleet, and who would wait for it."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushway.cli.screen import AsJson, answer_json, say, table, working
from hushway.errors import PlanError

if TYPE_CHECKING:
    from hushway.geography.transit import BusLine
    from hushway.transit.judge import Drawn, FleetVerdict, Service, TrueDays
    from hushway.transit.network_design import NetworkDesign
    from hushway.transit.shifts import Shifts


DayOption = Annotated[
    str | None,
    typer.Option(help="A weekday (Tue) or date (2026-03-03), if the release tells them apart."),
]
HoursOption = Annotated[
    str | None, typer.Option(help="Such as 08:00-10:00.", show_default="the whole day")
]


_INTERNAL = "INTERNAL: depends on exact trips; not for release"


class Task(StrEnum):
    """What a release is judged by."""

    FLEET = "fleet"


def evaluate(  # noqa: PLR0913
    release: Annotated[Path, typer.Argument(help="A release folder of the release type od.")],
    *,
    task: Annotated[Task, typer.Option(help="What the release is to be good for.")],
    network: Annotated[
        Path | None, typer.Option(help="Hubs and bus lines, a TOML file.", show_default="none")
    ] = None,
    gtfs: Annotated[
        Path | None, typer.Option(help="A GTFS feed to take them from.", show_default="none")
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(help="The release's plan: compare with the exact trips, at no cost."),
    ] = None,
    draws: Annotated[int, typer.Option(help="How many days are drawn.", min=1)] = 20,
    day: DayOption = None,
    hours: HoursOption = None,
    mean_wait: Annotated[
        int, typer.Option(help="The longest mean wait for a shuttle, in seconds.", min=0)
    ] = 180,
    shifts: Annotated[
        str | None, typer.Option(help="Plan drivers in shifts of so many hours, such as 4,8.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the network and its fleet into this PNG file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Size the fleet of an on-demand transit system by a release; costs no budget.

    Reads the release and public files; with a plan the exact trips too, for your own screen.
    """
    from hushway.release.folder.new_file import refuse_taken, write_new
    from hushway.transit.day_demand import hours_of
    from hushway.transit.evaluation import FleetQuestion, evaluate_fleet

    if picture is not None:
        refuse_taken(picture)
    question = FleetQuestion(
        network=network,
        gtfs=gtfs,
        plan=plan,
        draws=draws,
        day=day,
        hours=None if hours is None else hours_of(hours),
        mean_wait_s=mean_wait,
        shift_hours=() if shifts is None else _lengths(shifts),
    )
    with working() as show:
        found = evaluate_fleet(release, question, progress=show)
        if picture is not None:
            show("Drawing")
            write_new(picture, found.picture("The fleet that the release asks for"))
    verdict = found.verdict.value
    if as_json:
        answer_json({"task": task} | _facts(verdict, found.drivers))
        return
    _show(verdict, found.drivers)
    if picture is not None:
        say(f"The picture is in {picture}.")


def _lengths(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise PlanError(
            f"{text!r} are not lengths of shifts.", advice="Write hours like this: 4,8."
        )
    return tuple(int(part) for part in parts)


def _show(verdict: "FleetVerdict", shifts: "Shifts | None") -> None:
    truth = verdict.truth
    say(verdict.sentence)
    fleets = [
        *((zone.zone, zone.fleet, zone.at_least, zone.truth) for zone in verdict.zones),
        ("all", verdict.fleet, verdict.first.at_least, None if truth is None else truth.fleet),
    ]
    table(
        "Shuttles: medians over the draws (those of zones need not add up)",
        ["zone", "#fleet", "#range", "#proven at least", *([] if truth is None else ["#truth"])],
        [
            [
                name,
                f"{fleet.median}",
                f"{fleet.least}-{fleet.most}",
                f"{at_least}",
                *([] if true_fleet is None else [f"{true_fleet.median}"]),
            ]
            for name, fleet, at_least, true_fleet in fleets
        ],
    )
    if shifts is not None:
        say(
            f"{shifts.total} drivers, {shifts.paid_periods} hours of pay, on a day drawn from the "
            "release."
        )
    if truth is not None:
        _show_truth(truth)


def _show_truth(truth: "TrueDays") -> None:
    rows = zip(_figures(truth.by_table), _figures(truth.by_truth), strict=True)
    table(
        "On the true days",
        ["figure", "#fleet of the release", "#fleet of the truth"],
        [[name, by_table, by_truth] for (name, by_table), (_, by_truth) in rows],
    )
    say(_INTERNAL)


def _figures(service: "Service") -> list[tuple[str, str]]:
    return [
        ("shuttles", f"{sum(service.fleet)}"),
        ("wait per leg", f"{service.mean_leg_wait_s:.0f} s"),
        ("wait per trip", f"{service.mean_trip_wait_s:.0f} s"),
        ("time on board per trip", f"{service.mean_in_vehicle_s:.0f} s"),
        ("idle time per shuttle", f"{service.mean_idle_s:.0f} s"),
        ("legs not served", f"{service.unserved_legs:.1f}"),
        ("trips that did not arrive", f"{service.unserved_trips:.1f}"),
    ]


def _facts(verdict: "FleetVerdict", shifts: "Shifts | None") -> dict[str, Any]:
    truth = verdict.truth
    return {
        "sentence": verdict.sentence,
        "internal": None if truth is None else _INTERNAL,
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


def design(  # noqa: PLR0913
    release: Annotated[Path, typer.Argument(help="A release folder of the release type od.")],
    network: Annotated[Path, typer.Argument(help="The network file to write (TOML).")],
    *,
    candidates: Annotated[
        int, typer.Option(help="How many of the busiest places may become hubs.", min=2, max=20)
    ] = 12,
    day: DayOption = None,
    hours: HoursOption = None,
    headway: Annotated[float, typer.Option(help="Minutes from one bus to the next.")] = 7.5,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the network and its fleet into this PNG file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Design bus lines between the busiest places of a release; costs no budget.

    Only the published release is read. The file is for: hushway evaluate RELEASE --network FILE
    """
    from hushway.release.folder.new_file import refuse_taken, write_new
    from hushway.transit.day_demand import hours_of
    from hushway.transit.network_design import DesignQuestion, design_network

    question = DesignQuestion(
        candidates=candidates,
        day=day,
        hours=None if hours is None else hours_of(hours),
        headway_min=headway,
    )
    for path in (network, picture):
        if path is not None:
            refuse_taken(path)
    with working() as show:
        found = design_network(release, question, progress=show)
        if picture is not None:
            show("Drawing")
            write_new(picture, found.picture(f"Bus lines for the trips of {release.name}"))
        found.write(network)
    if as_json:
        answer_json(_design_facts(found))
        return
    _show_design(found)
    say(f"The network is in {network}. It was made from the published release alone: no cost.")
    if picture is not None:
        say(f"The picture is in {picture}.")


def _show_design(found: "NetworkDesign") -> None:
    places = found.network.locations.places
    if not found.network.lines:
        say("No bus is worth its cost here: shuttles alone are cheapest.")
    else:
        table(
            f"Hubs: {len(found.network.hubs)} of {len(found.candidates)} candidates",
            ["id", "name", "zone"],
            [
                [places[hub].id, places[hub].name, places[hub].zone]
                for hub in found.candidates
                if hub in found.network.hubs
            ],
        )
        table(
            "Lines, each one way",
            ["line", "stops", "#every", "#ride"],
            [
                [
                    line.name,
                    " - ".join(places[stop].name for stop in line.stops),
                    f"{line.headway_s / 60:g} min",
                    f"{sum(line.ride_s) / 60:.0f} min",
                ]
                for line in found.network.lines
            ],
        )
    say(
        f"Cost: {found.cost_h:,.1f} hours of riders' time a day, buses included; shuttles alone: "
        f"{found.shuttles_only_h:,.1f}. No lines between the candidates cost less than "
        f"{found.at_least_h:,.1f}."
    )
    if found.designed_share < 1:
        say(
            f"The lines and costs are those of the pairs with the most trips: "
            f"{found.designed_share:.0%} of all."
        )
    say(f"{found.bus_share:.0%} of {found.trips:,.0f} trips a day ride a bus.")


def _design_facts(found: "NetworkDesign") -> dict[str, Any]:
    ids = found.network.locations.ids
    return {
        "candidates": [ids[place] for place in found.candidates],
        "hubs": [ids[hub] for hub in found.network.hubs],
        "lines": [_line(line, ids) for line in found.network.lines],
        "cost_h": found.cost_h,
        "shuttles_only_h": found.shuttles_only_h,
        "at_least_h": found.at_least_h,
        "trips": found.trips,
        "designed_share": found.designed_share,
        "bus_share": found.bus_share,
    }


def _line(line: "BusLine", ids: tuple[str, ...]) -> dict[str, Any]:
    return {
        "name": line.name,
        "stops": [ids[stop] for stop in line.stops],
        "headway_s": line.headway_s,
        "ride_s": line.ride_s,
    }

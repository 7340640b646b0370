"""Commands that judge releases by their use: fleets, traffic, and bus lines for its trips."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushway.cli.console import AsJson, answer_json, say, table, working

if TYPE_CHECKING:
    from hushway.transit.judge import FleetVerdict, Service, TrueDays
    from hushway.transit.network_design import NetworkDesign
    from hushway.transit.shifts import Shifts
    from hushway.transit.traffic.evaluation import TrafficEvaluation


DayOption = Annotated[
    str | None,
    typer.Option(help="A weekday (Tue) or date (2026-03-03), if the release tells them apart."),
]
HoursOption = Annotated[
    str | None, typer.Option(help="Such as 08:00-10:00.", show_default="the whole day")
]


class Task(StrEnum):
    """What a release is judged by."""

    FLEET = "fleet"
    TRAFFIC = "traffic"


def evaluate(  # noqa: PLR0913
    release: Annotated[Path, typer.Argument(help="A release folder of the release type od.")],
    *,
    task: Annotated[Task, typer.Option(help="What the release is to be good for.")],
    network: Annotated[
        Path | None,
        typer.Option(
            help="Hubs and bus lines, a TOML file; for traffic, roads.", show_default="none"
        ),
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
    vehicles_per_trip: Annotated[
        float, typer.Option(help="Traffic: how many vehicles a trip puts on the road.")
    ] = 1.0,
    to: Annotated[
        Path | None, typer.Option(help="Traffic: write volume, speed and time by link, as CSV.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Judge a release by the fleet or the traffic that it asks for; costs no budget.

    Reads the release and public files; with a plan the exact trips too, for your own screen.
    """
    from hushway.steward.facts import fleet_facts, traffic_facts
    from hushway.steward.transit import evaluate as evaluate_release
    from hushway.transit.evaluation import FleetEvaluation

    with working() as show:
        found = evaluate_release(
            release,
            task=task,
            network=network,
            gtfs=gtfs,
            plan=plan,
            draws=draws,
            day=day,
            hours=hours,
            mean_wait=mean_wait,
            shifts=shifts,
            picture=picture,
            vehicles_per_trip=vehicles_per_trip,
            to=to,
            progress=show,
        )
    if not isinstance(found, FleetEvaluation):
        if as_json:
            answer_json(traffic_facts(found))
        else:
            _show_traffic(found, to)
        return
    if as_json:
        answer_json(fleet_facts(found))
        return
    _show(found.verdict.value, found.drivers)
    if picture is not None:
        say(f"The picture is in {picture}.")


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
    from hushway.steward.facts import INTERNAL_TRIPS

    rows = zip(_figures(truth.by_table), _figures(truth.by_truth), strict=True)
    table(
        "On the true days",
        ["figure", "#fleet of the release", "#fleet of the truth"],
        [[name, by_table, by_truth] for (name, by_table), (_, by_truth) in rows],
    )
    say(INTERNAL_TRIPS)


def _show_traffic(found: "TrafficEvaluation", to: Path | None) -> None:
    from hushway.steward.facts import INTERNAL_TRIPS, traffic_facts

    told = traffic_facts(found)
    say(told["sentence"])
    table(
        "Traffic by class of road: means over the draws",
        ["class", "#links", "#vehicle km", "#km/h"],
        [
            [
                f"{one['class']}",
                f"{one['links']:,}",
                f"{one['vehicle_km']:,.0f}",
                "" if one["speed_kmh"] is None else f"{one['speed_kmh']:.1f}",
            ]
            for one in told["classes"]
        ],
    )
    if told["off_roads"] > 0:
        say(f"{told['off_roads']:.1%} of the trips end where they begin, or far from these roads.")
    if told["truth"] is not None:
        table(
            "Beside the exact trips, by vehicles on a link",
            ["links with", "#links", "#RMSE", "#in the interval"],
            [
                [
                    one["name"],
                    str(one["links"]),
                    f"{one['rmse_percent']:.1f}%",
                    f"{one['held']:.0%}",
                ]
                for one in told["truth"]["sizes"]
            ],
        )
        say(INTERNAL_TRIPS)
    if to is not None:
        say(f"Every link is in {to}. It was made from the published release alone.")


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
    from hushway.steward.facts import design_facts
    from hushway.steward.transit import design as design_lines

    with working() as show:
        found = design_lines(
            release,
            network,
            candidates=candidates,
            day=day,
            hours=hours,
            headway=headway,
            picture=picture,
            progress=show,
        )
    if as_json:
        answer_json(design_facts(found))
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

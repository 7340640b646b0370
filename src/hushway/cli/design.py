"""Bus lines for the trips of a published release."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushway.cli.evaluate import DayOption, HoursOption
from hushway.cli.screen import AsJson, answer_json, say, table, working

if TYPE_CHECKING:
    from hushway.geography.transit import BusLine
    from hushway.transit.designing import NetworkDesign


def design(  # noqa: PLR0913
    release: Annotated[Path, typer.Argument(help="A release folder of the family od.")],
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
    from hushway.release.new_file import refuse_taken, write_new
    from hushway.transit.day_demand import hours_of
    from hushway.transit.designing import DesignQuestion, design_network

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
        answer_json(_facts(found))
        return
    _show(found)
    say(f"The network is in {network}. It was made from the published release alone: no cost.")
    if picture is not None:
        say(f"The picture is in {picture}.")


def _show(found: "NetworkDesign") -> None:
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


def _facts(found: "NetworkDesign") -> dict[str, Any]:
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

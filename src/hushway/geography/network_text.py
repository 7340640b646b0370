"""The file that describes a public transit network, as text."""

import json
from collections import deque
from collections.abc import Iterable

from hushway.geography.transit import TransitNetwork


def network_toml(network: TransitNetwork) -> str:
    """Returns the file that `read_network` of `tables` makes the same network of.

    A line is written once for both ways if the way back comes right after it: any other order of
    the lines could not be told from the file.
    """
    ids = network.locations.ids
    travel = network.travel
    rows = [
        f"hubs = {_texts(ids[hub] for hub in network.hubs)}",
        "",
        "[travel]",
        f"shuttle_m_per_s = {float(travel.shuttle_m_per_s)!r}",
        f"detour = {float(travel.detour)!r}",
        f"stop_s = {int(travel.stop_s)}",
        f"walk_m_per_s = {float(travel.walk_m_per_s)!r}",
    ]
    ahead = deque(network.lines)
    while ahead:
        line = ahead.popleft()
        both_ways = bool(ahead) and ahead[0] == line.back()
        if both_ways:
            ahead.popleft()
        rows += [
            "",
            "[[lines]]",
            f"name = {_text(line.name)}",
            f"stops = {_texts(ids[stop] for stop in line.stops)}",
            f"headway_s = {int(line.headway_s)}",
            f"ride_s = [{', '.join(str(int(ride)) for ride in line.ride_s)}]",
            f"both_ways = {'true' if both_ways else 'false'}",
        ]
    return "\n".join(rows) + "\n"


def _texts(values: Iterable[str]) -> str:
    return f"[{', '.join(_text(value) for value in values)}]"


def _text(value: str) -> str:
    # JSON's escapes are TOML's; only the delete character stands bare in the one and must not in
    # the other.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

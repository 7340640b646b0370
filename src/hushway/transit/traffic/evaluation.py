"""Puts the trips of a release on public roads, and compares with the exact trips."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hushway.families.links.public.read import read_roads
from hushway.privacy.measured import Internal
from hushway.progress import Progress
from hushway.release.folder.new_file import write_new
from hushway.transit.day_demand import Hours, published_day, read_od_table, true_day
from hushway.transit.traffic.day import PlacesOnRoads
from hushway.transit.traffic.judge import TrafficVerdict, judge_traffic


@dataclass(frozen=True, kw_only=True)
class TrafficQuestion:
    """What is asked of a release.

    Attributes:
        roads: The road network, in any format that links are read from.
        plan: The plan of the release, to compare with the exact trips.
        vehicles_per_trip: How many vehicles a trip puts on the road.
    """

    roads: Path
    plan: Path | None = None
    draws: int = 20
    day: str | None = None
    hours: Hours | None = None
    vehicles_per_trip: float = 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class TrafficEvaluation:
    """The answer."""

    verdict: Internal[TrafficVerdict]
    places: PlacesOnRoads

    def write(self, path: Path) -> None:
        """Writes the volume, speed and time of every link, with their intervals, as CSV.

        Privacy:
            Made of the release and the public roads alone, whether or not the truth was asked for.
        """
        roads, verdict = self.places.roads, self.verdict.value
        columns = {
            "link_id": roads.link_id.tolist(),
            "from_node_id": roads.node_id[roads.tail].tolist(),
            "to_node_id": roads.node_id[roads.head].tolist(),
        }
        kinds = {"volume": verdict.volumes, "speed_kmh": verdict.speeds, "time_s": verdict.seconds}
        for name, found in kinds.items():
            for part, values in (("", found.mean), ("_low", found.low), ("_high", found.high)):
                texts = np.char.mod("%.2f", values).tolist()
                columns[name + part] = ["" if text == "nan" else text for text in texts]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        write_new(path, text.getvalue().encode())


def evaluate_traffic(
    release: Path, question: TrafficQuestion, *, progress: Progress
) -> TrafficEvaluation:
    """Puts the trips of a release on roads; with a plan, also the exact ones.

    Privacy:
        Without a plan it reads a published release and public roads. With a plan all exact trips
        are counted, nobody's bounded and without noise: nothing is spent, since nothing is
        released, and the verdict is Internal.
    """
    progress("Reading the release")
    published = read_od_table(release)
    demand = published_day(published, day=question.day, hours=question.hours)
    progress("Reading the roads")
    roads, _ = read_roads(question.roads)
    places = PlacesOnRoads.of(
        roads, published.universe.locations, vehicles_per_trip=question.vehicles_per_trip
    )
    truth = None
    if question.plan is not None:
        truth = true_day(
            question.plan, published, day=question.day, hours=question.hours, progress=progress
        )
    verdict = judge_traffic(demand, places, truth=truth, draws=question.draws, progress=progress)
    return TrafficEvaluation(verdict=verdict, places=places)

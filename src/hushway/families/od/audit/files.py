"""What an OD release of trips in files must not give away, counted by the engine that plans use."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.audit.files import microseconds
from hushway.audit.harness import Examination, Sampler, Trial
from hushway.audit.product import Look
from hushway.families.od.audit.dense import MAX_TRIPS, Counts
from hushway.families.od.audit.product import Product, Spend, Stage
from hushway.families.od.audit.toy import Part, Scene, town
from hushway.families.od.rows.duckdb import TripColumns, TripsSource
from hushway.privacy.loss import PureLoss

_MANY = 20
_MINUTE_US = 60_000_000
# A release of files takes about as long for many corners as for few.
_CORNERS = town(places=100, periods=1)


def many_trips(product: Product, epsilon: Fraction) -> Examination:
    """Twenty trips of one person, four in each of five files, against none."""
    stage = FileStage(product=product, town=_CORNERS, spend=PureLoss(epsilon), max_trips=MAX_TRIPS)
    look = Counts(stage).of_cell
    return Trial(
        name="files: twenty trips of one person in five files or none",
        statistic="the noisy count of their cell",
        epsilon=epsilon,
        worlds=stage.worlds(look, ("the person", (Part(times=_MANY),))),
        tight=True,
    )


@dataclass(frozen=True, kw_only=True)
class FileStage(Stage[Spend]):
    """A stage whose trips are in files."""

    def sampler(self, scene: Scene, look: Look) -> Sampler:
        """Returns a way to run a scene: it is written once, and read again for each release."""
        trips, cells = self.town.play(scene), self.town.cells
        ids, opens_us = np.array(cells.locations.ids), cells.periods.opens * _MINUTE_US
        columns = {
            "person": trips.person,
            "origin": ids[trips.origin],
            "destination": ids[trips.destination],
            "time": microseconds(cells.periods.first_day, opens_us + trips.since_us),
        }
        return self.sampler_of_files(
            columns, lambda folder: TripsSource(folder, TripColumns(person="person")), look
        )

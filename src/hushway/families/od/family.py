"""OD tables, as the rest of the product knows them."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hushway.release.compared import ComparedTable
from hushway.release.family import SEED, Example, PackagedFamily, Parts
from hushway.release.intake import PERSON, TIME, Intake

if TYPE_CHECKING:
    from hushway.release.plan_sections import Section


class ODFamily(PackagedFamily):
    """OD tables."""

    name = "od"
    title = "trips by period, origin and destination"
    contribution_limit = "max_trips"
    guessed = "trips"
    intake = Intake(
        rows="trips",
        columns={
            "person": PERSON,
            "origin": ("origin", "origin_id", "from", "start", "start_station_id", "from_stop"),
            "destination": (
                "destination",
                "destination_id",
                "to",
                "end",
                "end_station_id",
                "to_stop",
            ),
            "time": TIME,
            "trip_id": ("trip_id", "ride_id"),
        },
        optional=("trip_id",),
        signs=("origin", "destination"),
        files={"places.file": "the public list of places"},
        left_out=("places.pairs",),
        without_person={"privacy.unit": "trip", "privacy.max_trips": 1},
    )
    compared = ComparedTable(file="trips.parquet", keys=("period", "origin", "destination"))
    parts = Parts(
        plan="plan.ODPlan",
        prepare="job.prepare_od",
        crowd_forecast="study.forecast.forecast_od",
        recommend="study.advice.recommend_od",
        invented_rows="study.invented_rows.invented_od",
        table="mechanism.table.ODTable",
        contents="files.contents.ODContents",
        check="files.check.check_od",
        drawing="files.atlas.draw_od",
    )

    @property
    def mechanisms(self) -> "Mapping[str, type[Section]]":
        """The models of its mechanisms by name."""
        from hushway.families.od.plan_mechanisms import MECHANISMS

        return MECHANISMS

    def example(self, folder: Path) -> Example:
        """Writes a synthetic weekday of Ann Arbor."""
        from hushway.families.od.city.ann_arbor import ann_arbor

        city = ann_arbor(seed=SEED)
        city.write(folder)
        riders = len(set(city.trips.rider.tolist()))
        return Example(
            title="A synthetic city, with the published figures of Ann Arbor",
            rows=f"{len(city.trips.rider):,} trips of {riders:,} riders",
        )

"""Densities, as the rest of the product knows them."""

from pathlib import Path

from hushway.release.compared import ComparedTable
from hushway.release.family import SEED, Example, PackagedFamily, Parts
from hushway.release.intake import LAT, LON, PERSON, TIME, Intake

_PEOPLE, _TOWERS, _AREAS = 20_000, 60, 40
# The template is for a city of millions. In one of 20,000 people so few visits need less noise.
_FOR_A_SMALL_CITY = {
    "max_visits_in_total = 1000 ": "max_visits_in_total = 200  ",
    'epsilon = "0.3" ': 'epsilon = "1"   ',
}


class DensityFamily(PackagedFamily):
    """Densities."""

    name = "density"
    title = "people in areas, hour by hour"
    contribution_limit = "max_visits"
    guessed = "visits"
    intake = Intake(
        rows="events",
        columns={
            "person": PERSON,
            "place": ("tower", "tower_id", "antenna", "antenna_id", "cell", "cell_id", "site"),
            "lon": LON,
            "lat": LAT,
            "time": TIME,
        },
        optional=("place", "lon", "lat"),
        either=(("place",), ("lon", "lat")),
        signs=("person", "place"),
        files={
            "areas.file": "the public areas",
            "places.file": "the public list of the places that events name",
        },
        left_out_without={"place": "places"},
    )
    compared = ComparedTable(file="density.parquet", keys=("area", "starts"))
    parts = Parts(
        plan="plan.DensityPlan",
        prepare="job.prepare_density",
        crowd_forecast="study.forecast.forecast_density",
        recommend="study.advice.recommend_density",
        invented_rows="study.invented_rows.invented_density",
        table="mechanism.fit.DensityTable",
        contents="files.check.DensityContents",
        check="files.check.check_density",
        drawing="files.atlas.draw_density",
    )

    def example(self, folder: Path) -> Example:
        """Writes a week of calls of a small synthetic Paris."""
        from hushway.families.density.city.paris import paris

        city = paris(SEED, people=_PEOPLE, towers=_TOWERS, areas=_AREAS)
        city.write(folder)
        return Example(
            title="Where people are by the hour: a small synthetic Paris",
            rows=f"{len(city):,} calls of {city.people:,} people",
            changes=_FOR_A_SMALL_CITY,
        )

"""Counts of road links, as the rest of the product knows them."""

from pathlib import Path

from hushway.release.compared import ComparedTable
from hushway.release.family import SEED, Example, PackagedFamily, Parts
from hushway.release.intake import LAT, LON, PERSON, TIME, Intake

# So few roads and so many people that most links clearly show at the template's budget.
_LINKS, _PEOPLE = 1_200, 10_000


class LinksFamily(PackagedFamily):
    """Counts of road links."""

    name = "links"
    title = "traffic on roads, link by link"
    contribution_limit = "max_items"
    guessed = "links travelled"
    intake = Intake(
        rows="traces",
        columns={
            "person": PERSON,
            "trip": ("trip", "trip_id", "journey", "journey_id"),
            "time": TIME,
            "lon": LON,
            "lat": LAT,
        },
        optional=("trip",),
        signs=("person", "lon", "lat"),
        files={"roads.file": "the public road network"},
    )
    compared = ComparedTable(file="links.parquet", keys=("period", "link_id"))
    parts = Parts(
        plan="plan.LinksPlan",
        prepare="job.prepare_links",
        invented_rows="study.invented_rows.invented_links",
        table="mechanism.fit.LinkTable",
        contents="files.check.LinksContents",
        check="files.check.check_links",
        drawing="files.atlas.draw_links",
    )

    def example(self, folder: Path) -> Example:
        """Writes a day of traces on the roads of a synthetic city."""
        from hushway.families.links.city.road_city import road_city
        from hushway.families.links.city.simulate import simulate_traces

        city = simulate_traces(road_city(SEED, links=_LINKS), SEED, people=_PEOPLE)
        city.write(folder)
        (folder / "roads").mkdir()
        for name in ("node.csv", "link.csv"):
            (folder / name).rename(folder / "roads" / name)
        return Example(
            title="Traffic on roads: traces in a synthetic city",
            rows=f"{len(city.lon):,} positions of {_PEOPLE:,} people",
            changes={
                "America/Los_Angeles": city.zone,
                "first_day = 2019-01-14": f"first_day = {city.first_day}",
                "last_day = 2019-01-14": f"last_day = {city.last_day}",
            },
        )

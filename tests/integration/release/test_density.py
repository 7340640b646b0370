"""A release of a density, from raw events to a verified folder, as a steward makes it."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
import shapefile
import shapely
from pyproj import Transformer

import hushway
from hushway.families.density.city.paris import DensityCity, paris
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.public.visits import DensityUniverse
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure
from hushway.steward.publish import publish
from support.city_plan import change, invoke, job_of, link_with_template
from support.long import often

LAMBERT_93 = "EPSG:2154"


@pytest.fixture(scope="module")
def made() -> DensityCity:
    return paris(3, people=1500, towers=30, areas=20)


@pytest.fixture(scope="module")
def files_of_paris(made: DensityCity, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paris")
    made.write(folder)
    return folder


@pytest.fixture
def city(files_of_paris: Path, tmp_path: Path) -> Path:
    """The template as a plan, with a generous budget, beside the city's files."""
    link_with_template(tmp_path, files_of_paris, "density")
    change(tmp_path, 'epsilon = "0.3" ', 'epsilon = "3" ')
    # Some plans here count a few days of the city's week.
    change(tmp_path, 'most_dropped = "1/2" ', 'most_dropped = "1" ')
    return tmp_path


@pytest.fixture
def short(city: Path) -> Path:
    """The same for two days."""
    change(city, "# last_day = 2007-09-16", "last_day = 2007-09-11")
    return city


def open_account(city: Path, *words: str) -> None:
    gaussian = job_of(city).mechanism.losses[0].measure is Measure.ZCDP
    usual = ("--epsilon", "4", *(("--delta", "2e-6") if gaussian else ()))
    opened = invoke("ledger", "open", city / "plan.toml", *(words or usual))
    assert opened.exit_code == 0, opened.output


def densities(folder: Path) -> dict[str, Any]:
    table: dict[str, Any] = pq.read_table(folder / "density.parquet").to_pydict()
    return table


def replace_file(path: Path) -> Path:
    """Makes room for a file of our own where a link to the shared one is."""
    path.unlink()
    return path


def test_the_whole_way_on_the_command_line(city: Path) -> None:
    plan = city / "plan.toml"
    assert invoke("plan", "new", "density").output.startswith("#:schema density")
    checked = invoke("check", plan)
    assert checked.exit_code == 0
    assert "20 areas, 30 sites, 168 periods" in " ".join(checked.output.split())
    open_account(city)
    priced = invoke("price", plan, "--json")
    assert json.loads(priced.output)["affordable"]
    assert invoke("publish", plan, "--yes").exit_code == 0
    verified = invoke("verify", city / "release")
    assert verified.exit_code == 0, verified.output
    table = densities(city / "release")
    assert len(table["count"]) == 20 * 168
    assert min(table["count"]) >= 0
    assert min(table["standard_error"]) > 0
    with Ledger.connect(city / "ledger.db") as ledger:
        assert ledger.unpublished() == []
        assert ledger.accounts()[0].spent > 0
        assert str(ledger.entries()[1].window) == "2007-09-10 to 2007-09-16"
        assert ledger.check() == []


@pytest.mark.long
def test_months_become_a_typical_week(city: Path) -> None:
    change(city, 'cycle = "window" ', 'cycle = "week" ')
    change(city, "# last_day = 2007-09-16", "last_day = 2007-11-04")
    open_account(city)
    assert invoke("publish", city / "plan.toml", "--yes").exit_code == 0
    verified = invoke("verify", city / "release")
    assert verified.exit_code == 0, verified.output
    table = densities(city / "release")
    assert len(table["count"]) == 20 * 168
    starts = [moment.isoformat() for moment in table["starts"][:168]]
    assert (starts[0], starts[-1]) == ("2007-09-10T00:00:00+02:00", "2007-09-16T23:00:00+02:00")
    periods = (city / "release" / "periods.csv").read_text(encoding="utf-8")
    assert "Mon 08:00-09:00" in periods


def test_positions_instead_of_towers(short: Path, made: DensityCity) -> None:
    random = np.random.default_rng(4)
    rows = random.choice(len(made), 8000, replace=False)
    near = np.array([(place.lon, place.lat) for place in made.towers.places])[made.tower[rows]]
    lon, lat = (near + random.normal(0, 0.002, near.shape)).T
    start = np.datetime64(made.first_day, "s")
    times = (start + made.second[rows].astype("timedelta64[s]")).astype(str)
    events = {"phone": made.person[rows], "x": lon, "y": lat, "seen": times}
    pc.write_csv(pa.table(events), short / "positions.csv")
    change(short, "events.parquet", "positions.csv")
    change(short, 'person = "person"\nplace = "tower" ', 'person = "phone"\nlon = "x"\nlat = "y" ')
    change(short, 'time = "time"', 'time = "seen"')
    before, _, rest = (short / "plan.toml").read_text(encoding="utf-8").partition("\n[places]")
    plan = before + "\n[areas]" + rest.partition("\n[areas]")[2]
    (short / "plan.toml").write_text(plan, encoding="utf-8")
    checked = invoke("check", short / "plan.toml").output
    assert "20 areas, 48 periods" in " ".join(checked.split())
    open_account(short)
    published = publish(job_of(short))
    assert hushway.verify(published.folder).passed
    table = densities(published.folder)
    assert len(table["count"]) == 20 * 48
    assert sorted(set(table["area"])) == sorted(made.areas.ids)
    assert not (published.folder / "sites.csv").exists()


def write_shapefile(made: DensityCity, path: Path, *, prj: bool) -> None:
    """Writes the areas in Lambert-93, as a French office would."""
    from pyproj import CRS

    to_metres = Transformer.from_crs("EPSG:4326", LAMBERT_93, always_xy=True)
    with shapefile.Writer(str(path), shapefile.POLYGON) as writer:
        writer.field("CODE", "C", size=20)
        writer.field("NOM", "C", size=60)
        for area in made.areas.areas:
            metres = shapely.transform(
                shapely.orient_polygons(area.shape, exterior_cw=True),
                lambda xy: np.column_stack(to_metres.transform(xy[:, 0], xy[:, 1])),
            )
            writer.shape(metres.__geo_interface__)
            writer.record(area.id, area.name)
    if prj:
        text = CRS.from_user_input(LAMBERT_93).to_wkt("WKT1_ESRI")
        path.with_suffix(".prj").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("prj", [True, False], ids=["the file says", "the plan says"])
def test_areas_may_be_a_shapefile_in_lambert_93(short: Path, made: DensityCity, prj: bool) -> None:
    degrees = job_of(short).geography
    assert isinstance(degrees, DensityUniverse)
    write_shapefile(made, short / "areas.shp", prj=prj)
    change(short, 'file = "areas.geojson"', 'file = "areas.shp"')
    change(short, 'id = "id"                      # the property', 'id = "CODE" # the property')
    change(short, 'name = "name"                  # and the one', 'name = "NOM" # and the one')
    if not prj:
        refused = invoke("check", short / "plan.toml")
        assert refused.exit_code != 0
        change(short, "# crs = ", "crs = ")
    job = job_of(short)
    assert isinstance(job.geography, DensityUniverse)
    assert job.geography.areas.ids == degrees.areas.ids
    assert job.geography.areas.sizes == pytest.approx(degrees.areas.sizes, rel=1e-5)
    open_account(short)
    assert hushway.verify(publish(job).folder).passed


def test_areas_may_be_geoparquet(short: Path, made: DensityCity) -> None:
    kinds = sorted({area.shape.geom_type for area in made.areas.areas})
    about = {"encoding": "WKB", "geometry_types": kinds}
    geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": about}}
    shapes = [shapely.to_wkb(area.shape) for area in made.areas.areas]
    names = [area.name for area in made.areas.areas]
    table = pa.table({"id": list(made.areas.ids), "name": names, "geometry": shapes})
    pq.write_table(table.replace_schema_metadata({"geo": json.dumps(geo)}), short / "areas.parquet")
    change(short, 'file = "areas.geojson"', 'file = "areas.parquet"')
    open_account(short)
    assert hushway.verify(publish(job_of(short)).folder).passed


GIVEN = {'max_visits = "auto" ': "max_visits = 30 ", 'in_total = "auto" ': "in_total = 200 "}
GAUSSIAN = {'noise = "auto" ': 'noise = "gaussian" ', "# delta = ": "delta = "}
OPTIONS: dict[str, dict[str, str]] = {
    "cosines, two hours, unclustered": {
        'denoise = "patterns"': 'denoise = "sure"',
        "minutes = 60 ": "minutes = 120 ",
        "clustering = true ": "clustering = false ",
    },
    "cuts and shares": {
        'denoise = "patterns"': 'denoise = "cuts"',
        "# budget_shares = {": "budget_shares = {",
        **GIVEN,
        **GAUSSIAN,
    },
    "nights as curves, unscaled": {
        'denoise = "patterns"': 'denoise = "none"',
        "scaling = true ": "scaling = false ",
        "night = false ": "night = true ",
        **GIVEN,
    },
    "limits that are chosen, Gaussian noise": GAUSSIAN,
    "a cluster error": {
        **GIVEN,
        "# cluster_error = 0.05 ": "cluster_error = 0.2 ",
    },
}


@pytest.mark.parametrize("name", often(OPTIONS, first=2))
def test_every_option_publishes_a_release_that_verifies(short: Path, name: str) -> None:
    for old, new in OPTIONS[name].items():
        change(short, old, new)
    events = pq.read_table(short / "events.parquet")
    # Persons may be texts as well as numbers.
    persons = pa.array([f"phone {code}" for code in events["person"].to_pylist()])
    pq.write_table(events.set_column(0, "person", persons), replace_file(short / "events.parquet"))
    open_account(short)
    assert hushway.verify(publish(job_of(short)).folder).passed


@pytest.mark.parametrize("name", ["series", "laplace"])
def test_laplace_noise_is_paid_in_epsilon(short: Path, name: str) -> None:
    text = (short / "plan.toml").read_text(encoding="utf-8")
    for old, new in GIVEN.items():
        text = text.replace(old, new)
    before, _, rest = text.partition("[mechanism]")
    options = (
        '[mechanism]\nname = "laplace"\n'
        if name == "laplace"
        else '[mechanism]\nnoise = "laplace"\n'
    )
    (short / "plan.toml").write_text(
        before + options + "[problems]" + rest.partition("[problems]")[2], encoding="utf-8"
    )
    open_account(short, "--epsilon", "4")
    job = job_of(short)
    # It costs the same however many visits of a period count.
    assert isinstance(job.mechanism, DensitySeries)
    assert not job.mechanism.limits.one_in_a_bin
    published = publish(job)
    assert hushway.verify(published.folder).passed
    with Ledger.connect(short / "ledger.db") as ledger:
        assert ledger.accounts()[0].spent == Fraction(3)


def test_a_day_on_which_the_clock_skips_an_hour_has_all_its_bins(city: Path) -> None:
    times = [f"2026-03-29T{hour:02d}:30:00" for hour in range(24)]
    tower = pq.read_table(city / "events.parquet")["tower"][0].as_py()
    lines = [f"p{i},{tower},{time}" for i in range(300) for time in times]
    (city / "events.csv").write_text("person,tower,time\n" + "\n".join(lines) + "\n", "utf-8")
    change(city, "events.parquet", "events.csv")
    change(city, "first_day = 2007-09-10", "first_day = 2026-03-28")
    change(city, "# last_day = 2007-09-16", "last_day = 2026-03-29")
    checked = json.loads(invoke("check", city / "plan.toml", "--json").stdout)
    found = {problem["kind"]: problem["count"] for problem in checked["problems"]}
    assert found["impossible_time"] == 300
    open_account(city)
    published = publish(job_of(city))
    assert hushway.verify(published.folder).passed
    assert len(densities(published.folder)["count"]) == 20 * 48


def test_a_window_without_a_single_event_is_published_as_noise(city: Path) -> None:
    change(city, "first_day = 2007-09-10", "first_day = 2019-09-09")
    change(city, "# last_day = 2007-09-16", "last_day = 2019-09-09")
    open_account(city)
    published = publish(job_of(city))
    assert hushway.verify(published.folder).passed

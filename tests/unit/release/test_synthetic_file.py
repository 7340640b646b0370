"""Travellers as simulators load them: valid plans of MATSim, and persons that SUMO runs."""

import gzip
import subprocess
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import numpy as np
import pyarrow as pa
import pytest

from hushway.errors import ReleaseError
from hushway.geography.locations import NOT_KNOWN, Location, Locations
from hushway.release.synthetic_file import SyntheticFile, Travellers

# What may stand within what in a population of MATSim, version 6, and the attributes of each.
POPULATION = {
    "population": ({"attributes", "person"}, {"desc"}),
    "attributes": ({"attribute"}, set()),
    "attribute": (set(), {"name", "class"}),
    "person": ({"plan"}, {"id"}),
    "plan": ({"activity", "leg"}, {"selected"}),
    "activity": (set(), {"type", "x", "y", "end_time"}),
    "leg": (set(), {"mode"}),
}
# Side of the grid of roads that SUMO runs on, and the corner and size of it in degrees.
SIDE, LON, LAT, STEP = 4, 9.0, 48.0, 0.006


def _place(name: str, lon: float, lat: float) -> Location:
    return Location(id=name, name=name, lon=lon, lat=lat, zone="")


LOCATIONS = Locations(
    (
        _place("a", LON, LAT),
        _place("b", LON + 2 * STEP, LAT + STEP),
        _place("c", LON + 3 * STEP, LAT + 3 * STEP),
        _place(NOT_KNOWN, LON + STEP, LAT),
    )
)


def travellers() -> Travellers:
    """Returns four: late to three places, to a place not known, early, and at home."""
    return Travellers(
        locations=LOCATIONS,
        start=np.array([0, 3, 5, 7, 8]),
        places=np.array([0, 1, 2, 0, 3, 2, 1, 0]),
        left=np.array([3600, 5400, 90_000, 60, 60, 30, 90, 10]),
    )


def _assert_valid(element: Element) -> None:
    children, attributes = POPULATION[element.tag]
    assert set(element.attrib) <= attributes
    assert {child.tag for child in element} <= children
    for child in element:
        _assert_valid(child)


@pytest.mark.parametrize("name", ["plans.xml", "plans.xml.gz"])
def test_plans_of_matsim_are_those_of_who_travels(tmp_path: Path, name: str) -> None:
    assert SyntheticFile(path=tmp_path / name, mode="transit").write_travellers(travellers()) == 2
    data = (tmp_path / name).read_bytes()
    population = fromstring(gzip.decompress(data) if name.endswith("gz") else data)  # noqa: S314
    _assert_valid(population)
    assert population.findtext("attributes/attribute") == "EPSG:32632"
    early, late = population.findall("person/plan")
    assert [part.tag for part in late] == ["activity", "leg", "activity", "leg", "activity"]
    ends = [activity.get("end_time") for activity in late.findall("activity")]
    assert ends == ["01:00:00", "01:30:00", None]
    assert early[0].get("end_time") == "00:00:30"
    assert {leg.get("mode") for leg in population.iter("leg")} == {"pt"}
    # The central meridian of the zone is at an easting of 500 km, and runs through the first place.
    assert float(late[0].get("x", "")) == pytest.approx(500_000, abs=0.1)


def test_hours_run_on_after_the_first_day(tmp_path: Path) -> None:
    next_day = Travellers(
        locations=LOCATIONS,
        start=np.array([0, 2]),
        places=np.array([0, 1]),
        left=np.array([90_061, 90_061]),
    )
    SyntheticFile(path=tmp_path / "plans.xml").write_travellers(next_day)
    assert 'end_time="25:01:01"' in (tmp_path / "plans.xml").read_text("utf-8")


def test_the_same_travellers_have_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.xml.gz", "b.xml.gz"):
        SyntheticFile(path=tmp_path / name).write_travellers(travellers())
    assert (tmp_path / "a.xml.gz").read_bytes() == (tmp_path / "b.xml.gz").read_bytes()


def test_what_cannot_be_written_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="OD tables only"):
        SyntheticFile(path=tmp_path / "taps.omx").write_rows(pa.table({"record": [1]}))
    with pytest.raises(ReleaseError, match=r"ends like trips\.json"):
        SyntheticFile(path=tmp_path / "trips.json")
    with pytest.raises(ReleaseError, match="no file of travellers"):
        SyntheticFile(path=tmp_path / "plans.xml", table=True)
    with pytest.raises(ReleaseError, match="do not move by 'sledge'"):
        SyntheticFile(path=tmp_path / "plans.xml", mode="sledge")
    (tmp_path / "plans.xml").touch()
    with pytest.raises(ReleaseError, match="exists already"):
        SyntheticFile(path=tmp_path / "plans.xml")


@pytest.mark.parametrize(("mode", "ridden"), [("car", 3), ("transit", 0)])
def test_sumo_brings_every_person_where_they_go(tmp_path: Path, mode: str, ridden: int) -> None:
    sumo = pytest.importorskip("sumo", reason="eclipse-sumo is not installed")
    programs = Path(sumo.SUMO_HOME) / "bin"
    _roads(tmp_path, programs)
    written = SyntheticFile(path=tmp_path / "persons.rou.xml", mode=mode)
    assert written.write_travellers(travellers()) == 2
    ran = _run(
        programs / "sumo",
        "--net-file=roads.net.xml --route-files=persons.rou.xml --tripinfo-output=trips.xml "
        "--error-log=errors.txt --no-step-log --xml-validation=never",
        tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "errors.txt").read_text("utf-8") == ""
    ended = fromstring((tmp_path / "trips.xml").read_bytes())  # noqa: S314
    persons = ended.findall("personinfo")
    assert {person.get("id"): person.get("depart") for person in persons} == {
        "0": "30.00",
        "1": "3600.00",
    }
    assert sum(len(person.findall("ride")) for person in persons) == ridden
    assert all(float(part.get("arrival", "-1")) > 0 for person in persons for part in person)


def _roads(folder: Path, programs: Path) -> None:
    """Makes a network of SUMO: a grid of streets that both people and cars use."""
    at = [(i, j) for i in range(SIDE) for j in range(SIDE)]
    nodes = [f'<node id="{i}.{j}" x="{LON + i * STEP}" y="{LAT + j * STEP}"/>' for i, j in at]
    streets = [
        (one, other)
        for one in at
        for other in at
        if abs(one[0] - other[0]) + abs(one[1] - other[1]) == 1
    ]
    edges = [
        f'<edge id="{a}.{b}-{c}.{d}" from="{a}.{b}" to="{c}.{d}" numLanes="1" speed="14"/>'
        for (a, b), (c, d) in streets
    ]
    (folder / "n.nod.xml").write_text(f"<nodes>{''.join(nodes)}</nodes>", "utf-8")
    (folder / "e.edg.xml").write_text(f"<edges>{''.join(edges)}</edges>", "utf-8")
    _run(
        programs / "netconvert",
        "--node-files=n.nod.xml --edge-files=e.edg.xml --output-file=roads.net.xml --proj.utm "
        "--xml-validation=never",
        folder,
    )


def _run(program: Path, options: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *options.split()], cwd=folder, capture_output=True, text=True, check=False
    )

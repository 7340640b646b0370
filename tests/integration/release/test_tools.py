"""Releases of every type as the tools of others read them."""

import json
import warnings
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import mlcroissant
import openpyxl
import pyogrio
import pyogrio.raw
import pyshacl
import pytest
import shapely
import yaml
from frictionless import Package
from jsonschema import Draft7Validator
from rdflib import RDF, Graph, URIRef

from hushway.families.load import plan_from, prepare
from hushway.families.verify import verify
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.release.documents.papers import GEOPACKAGE, INDEX, PAPERS, WORKBOOK
from hushway.steward.publish import publish
from support.little_plans import FAMILIES, little_plan, write_little_files
from support.long import often
from support.same_bytes import PLANS

_STATED = {
    "publisher": "City of Example",
    "contact": "data@city.example",
    "licence": "CC-BY-4.0",
    "region": "Example, Portugal",
    "intended_use": "Planning",
}
_PAPERS = {paper.path for paper in PAPERS} | {INDEX, WORKBOOK, GEOPACKAGE}
_SUPPORT = Path(__file__).parents[2] / "support"
_REGISTRY = _SUPPORT / "registry_label.json"
_TIMES = little_plan("sequences")["records"] | {"times": True}
# All mechanisms, and whatever else changes which files there are and what is in them.
_PLANS: dict[str, tuple[str, dict[str, Any]]] = {
    **PLANS,
    "od learnt": ("od", {"mechanism": {"name": "learned"}}),
    "od by Laplace, dense": ("od", {"mechanism": {"name": "laplace", "form": "dense"}}),
    "sequences with times": ("sequences", {"records": _TIMES}),
}


# One of each release type in every run.
@pytest.fixture(
    scope="module", params=often(sorted(_PLANS, key=lambda n: n not in FAMILIES), first=4)
)
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A little release whose plan says who publishes it."""
    folder = tmp_path_factory.mktemp("release")
    write_little_files(folder)
    family, changes = _PLANS[request.param]
    plan = little_plan(family) | changes
    plan["release"] |= _STATED
    job = prepare(plan_from(plan, folder=folder))
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.ZCDP, Fraction(1000)))
    return publish(job).folder


def test_gdal_opens_the_layers_and_a_spreadsheet_the_tables(release: Path) -> None:
    layers = dict(pyogrio.list_layers(release / GEOPACKAGE))
    book = openpyxl.load_workbook(release / WORKBOOK)
    assert book.sheetnames[0] == "about"
    assert set(book.sheetnames) == set(layers)
    assert {"Point", "LineString", "MultiPolygon"} & set(layers.values())
    for sheet in book:
        head, *rows = sheet.iter_rows(values_only=True)
        facts = pyogrio.read_info(release / GEOPACKAGE, layer=sheet.title)
        assert facts["features"] == len(rows)
        assert list(facts["fields"]) == list(head)
        if layers[sheet.title] is not None:
            assert facts["crs"] == "EPSG:4326"
            _, _, shapes, _ = pyogrio.raw.read(release / GEOPACKAGE, layer=sheet.title)
            assert all(
                shapely.is_valid(shapely.from_wkb(shapes)) | (layers[sheet.title] != "MultiPolygon")
            )


def facts_in(release: Path, name: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((release / name).read_bytes())
    return facts


def test_frictionless_validates_it(release: Path) -> None:
    report = Package(str(release / "datapackage.json")).validate()
    problems = [(task.name, error.message) for task in report.tasks for error in task.errors]
    assert not problems
    assert report.valid
    assert not report.errors


def test_the_package_names_publisher_licence_and_epsilon(release: Path) -> None:
    package = facts_in(release, "datapackage.json")
    assert package["contributors"] == [
        {"title": "City of Example", "roles": ["publisher"], "email": "data@city.example"}
    ]
    (licence,) = package["licenses"]
    assert licence["name"] == "CC-BY-4.0"
    # These plans ask for an epsilon of 1; a delta is given where the noise is Gaussian.
    assert 0 < float(package["privacy"]["epsilon"]) <= 1
    assert float(package["privacy"]["delta"]) <= 1e-6


def test_the_registry_would_take_the_label(release: Path) -> None:
    schema = json.loads(_REGISTRY.read_text("utf-8"))
    checker = Draft7Validator.FORMAT_CHECKER
    text = (release / "label.yaml").read_text("utf-8")
    label = yaml.safe_load(text)
    problems = Draft7Validator(schema, format_checker=checker).iter_errors(label)
    assert [problem.message for problem in problems] == []
    # The registry's own tools take the slug from the first line, as it stands there.
    assert text.startswith(f"url_slug: {label['url_slug']}\n")
    year = label["deployment"]["basic"]["publication_date"][:4]
    assert label["url_slug"] == f"a-little-release-city-of-example-{year}"
    assert label["deployment"]["basic"]["data_product_region"] == "Example, Portugal"


# Croissant's own library is behind the one that it reads RDF with.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_croissant_reads_every_row_of_every_table(release: Path) -> None:
    data = mlcroissant.Dataset(jsonld=release / "croissant.json")
    assert not data.metadata.ctx.issues.errors
    assert data.metadata.publisher[0].name == "City of Example"
    package = facts_in(release, "datapackage.json")
    tables = {part["name"] for part in package["resources"] if "schema" in part}
    assert {records.id for records in data.metadata.record_sets} == tables
    for table in package["resources"]:
        if "schema" in table:
            with Package(str(release / "datapackage.json")).get_resource(table["name"]) as rows:
                expected = sum(1 for _ in rows.row_stream)
            assert sum(1 for _ in data.records(table["name"])) == expected, table["path"]


_DCT, _DCAT = "http://purl.org/dc/terms/", "http://www.w3.org/ns/dcat#"
_SHACL = "http://www.w3.org/ns/shacl#"
_SHAPES = _SUPPORT / "mobility_dcat_shapes.ttl"


def portal_graph(release: Path) -> Graph:
    with warnings.catch_warnings():
        # It still calls one of its own names that it has renamed.
        warnings.simplefilter("ignore", DeprecationWarning)
        return Graph().parse(release / "mobilitydcat-ap.jsonld", format="json-ld")


def conforms(graph: Graph, shapes: Graph) -> tuple[bool, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        fine, _, report = pyshacl.validate(graph, shacl_graph=shapes)
    return bool(fine), report


def test_portals_find_all_that_is_mandatory(release: Path) -> None:
    graph = portal_graph(release)
    fine, report = conforms(graph, Graph().parse(_SHAPES))
    assert fine, report
    (found,) = graph.subjects(RDF.type, URIRef(_DCAT + "Dataset"))
    files = list(graph.objects(found, URIRef(_DCAT + "distribution")))
    places = {str(place) for place in graph.objects(None, URIRef(_DCAT + "accessURL"))}
    data = {part["path"] for part in facts_in(release, "datapackage.json")["resources"]}
    # Relative addresses are those of files beside it.
    assert len(places) == len(files) > 3
    assert all((release / path).as_uri() in places or path in _PAPERS for path in data)


@pytest.mark.parametrize("release", ["od"], indirect=True)
def test_portals_would_miss_whatever_is_mandatory(release: Path) -> None:
    shapes = Graph().parse(_SHAPES)
    needed = {
        path
        for asked in shapes.subjects(URIRef(_SHACL + "minCount"))
        for path in shapes.objects(asked, URIRef(_SHACL + "path"))
    }
    assert len(needed) > 10
    for path in sorted(needed, key=str):
        without = portal_graph(release)
        without.remove((None, path, None))
        assert not conforms(without, shapes)[0], path


def rings_in(release: Path) -> Iterator[tuple[bool, Any]]:
    for path in release.glob("*.geojson"):
        for feature in json.loads(path.read_bytes())["features"]:
            geometry = feature["geometry"]
            if geometry["type"] == "Polygon":
                yield from ((i == 0, ring) for i, ring in enumerate(geometry["coordinates"]))


def test_rings_follow_the_right_hand_rule_and_no_time_is_24_00(release: Path) -> None:
    for outer, ring in rings_in(release):
        assert shapely.LinearRing(ring).is_ccw == outer
    for path in release.rglob("*"):
        if path.suffix in {".csv", ".json", ".geojson"}:
            assert b"24:00" not in path.read_bytes().replace(b"T10:24:00", b""), path.name


def test_it_verifies_with_all_its_papers(release: Path) -> None:
    assert verify(release).passed

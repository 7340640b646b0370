import dataclasses
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.artefact.verify import verify
from hushway.artefact.write import write_release
from hushway.errors import PrivacyError, ReleaseError
from hushway.geography.areas import Areas
from hushway.geography.density import DensityUniverse
from hushway.geography.periods import Periods
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event, cutting_event, loss_of_cuts
from hushway.privacy.certificate import Certificate
from hushway.privacy.events import Event, SelectEvent
from hushway.privacy.internal import Internal
from hushway.privacy.loss import ZCDPLoss
from hushway.releases.density.table import DensityTable

Build = Callable[..., DensityTable]
Certify = Callable[..., Certificate]
Spoil = Callable[[DensityTable], Any]
EventsFor = Callable[[DensityTable], tuple[Event, ...]]

PLAIN = [
    "areas.geojson",
    "certificate.html",
    "certificate.json",
    "cover.csv",
    "datapackage.json",
    "density.csv",
    "density.geo.parquet",
    "density.parquet",
    "label.yaml",
    "measured_series.parquet",
    "periods.csv",
    "picture.png",
    "pieces.csv",
    "seal.json",
]
SPEND = ZCDPLoss(Fraction(1, 50))
ONE = Bound(cells=1, each=1, total=1)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_release_holds_its_files(tower_release: Path, plain_release: Path) -> None:
    assert names(plain_release) == PLAIN
    assert names(tower_release) == sorted([*PLAIN, "measured_sites.csv", "sites.csv"])


def test_the_same_release_gives_the_same_bytes(
    tmp_path: Path, tower_release: Path, density: DensityTable, certify_density: Certify
) -> None:
    again = write_release(tmp_path / "r", table=density, certificate=certify_density(density))
    for name in names(tower_release):
        assert (again / name).read_bytes() == (tower_release / name).read_bytes(), name


def test_the_data_package_tells_the_facts(tower_release: Path, density: DensityTable) -> None:
    package = json.loads((tower_release / "datapackage.json").read_bytes())
    assert package["table"] == {
        "areas": 3,
        "bins": 8,
        "rows": 24,
        "visits": round(float(density.counts.sum()), 2),
        "towers": True,
        "sites": 2,
        "cells_of_the_cover": 3,
        "clusters": 2,
        "quanta": 12,
        "sites_measured": True,
        "measured_total": 12345,
        "fit": {"kept": 4.5, "night": {"days": 2}},
    }
    described = {each["path"]: each for each in package["resources"]}
    assert "12 parts are one visit" in described["measured_series.parquet"]["description"]
    assert "every part of every day" in described["periods.csv"]["description"]
    for name in ("sites.csv", "cover.csv", "pieces.csv", "periods.csv", "measured_sites.csv"):
        header = (tower_release / name).read_text().splitlines()[0]
        fields = [field["name"] for field in described[name]["schema"]["fields"]]
        assert fields == header.split(","), name
    assert package["omitted"] == []


def test_long_tables_have_no_text(
    tmp_path: Path,
    density: DensityTable,
    certify_density: Certify,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hushway.artefact.formats.density.MOST_CSV_ROWS", 23)
    folder = write_release(tmp_path / "r", table=density, certificate=certify_density(density))
    assert "density.csv" not in names(folder)
    package = json.loads((folder / "datapackage.json").read_bytes())
    assert [each["path"] for each in package["omitted"]] == ["density.csv"]
    assert verify(folder).passed


@pytest.mark.parametrize(("histogram", "counted"), [(True, False), (False, True)])
@pytest.mark.parametrize(("days", "minutes"), [(1, 1440), (3, 30)])
def test_densities_of_every_kind_verify(
    tmp_path: Path,
    build: Build,
    certify_density: Certify,
    *,
    rectangles: Callable[..., Areas],
    seen_by_positions: Callable[..., DensityUniverse],
    bins_of: Callable[..., Periods],
    histogram: bool,
    counted: bool,
    days: int,
    minutes: int,
) -> None:
    universe = seen_by_positions(rectangles(5, 1), bins_of(days, minutes))
    table = build(universe, histogram=histogram, counted=counted, quanta=1)
    folder = write_release(tmp_path / "r", table=table, certificate=certify_density(table))
    assert verify(folder).passed


def shifted(table: DensityTable, name: str, value: float) -> DensityTable:
    """Changes the first number of an array."""
    array = getattr(table, name).copy()
    array.reshape(-1)[0] = value
    return dataclasses.replace(table, **{name: array})


class FullerAreas:
    """Looks like areas, and could carry anything."""

    def __init__(self, areas: Areas) -> None:
        self._areas = areas

    def __len__(self) -> int:
        return len(self._areas)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._areas, name)


def with_fuller_areas(table: DensityTable) -> DensityTable:
    areas = FullerAreas(table.universe.areas)
    return dataclasses.replace(table, universe=dataclasses.replace(table.universe, areas=areas))


SPOILT: dict[str, Spoil] = {
    "internal": Internal,
    "internal counts": lambda t: dataclasses.replace(t, counts=Internal(t.counts)),
    "no universe": lambda t: dataclasses.replace(t, universe="Paris"),
    "fuller areas": with_fuller_areas,
    "whole counts": lambda t: dataclasses.replace(t, counts=t.counts.astype(np.int64)),
    "flat counts": lambda t: dataclasses.replace(t, counts=t.counts.reshape(-1)),
    "a bin too few": lambda t: dataclasses.replace(t, counts=t.counts[:, 1:]),
    "other errors": lambda t: dataclasses.replace(t, standard_error=t.standard_error[1:]),
    "a negative count": lambda t: shifted(t, "counts", -0.01),
    "no number": lambda t: shifted(t, "counts", float("nan")),
    "endless": lambda t: shifted(t, "counts", float("inf")),
    "huge": lambda t: shifted(t, "counts", 1e14),
    "thousandths": lambda t: shifted(t, "counts", 1.005),
    "an error of 0": lambda t: shifted(t, "standard_error", 0.0),
    "no error": lambda t: shifted(t, "standard_error", float("nan")),
    "thousandths of errors": lambda t: shifted(t, "standard_error", 1.001),
    "measured floats": lambda t: dataclasses.replace(
        t, measured_series=t.measured_series.astype(float)
    ),
    "flat series": lambda t: dataclasses.replace(t, measured_series=t.measured_series.reshape(-1)),
    "huge series": lambda t: shifted(t, "measured_series", 2**62),
    "a site too few": lambda t: dataclasses.replace(t, measured_sites=t.measured_sites[1:]),
    "a list of sites": lambda t: dataclasses.replace(t, measured_sites=[1, 2]),
    "a total of numpy": lambda t: dataclasses.replace(t, measured_total=np.int64(5)),
    "half a total": lambda t: dataclasses.replace(t, measured_total=0.5),
    "a true total": lambda t: dataclasses.replace(t, measured_total=True),
    "gaps": lambda t: dataclasses.replace(t, cluster=t.cluster * 2),
    "negative clusters": lambda t: dataclasses.replace(t, cluster=t.cluster - 1),
    "short clusters": lambda t: dataclasses.replace(t, cluster=t.cluster[1:]),
    "float clusters": lambda t: dataclasses.replace(t, cluster=t.cluster.astype(float)),
    "no quanta": lambda t: dataclasses.replace(t, quanta=0),
    "quanta of numpy": lambda t: dataclasses.replace(t, quanta=np.int64(12)),
    "endless quanta": lambda t: dataclasses.replace(t, quanta=2**40),
    "diagnostics": lambda t: dataclasses.replace(t, diagnostics={"truth": Internal(3)}),
    "odd diagnostics": lambda t: dataclasses.replace(t, diagnostics={"gap": np.float64(3)}),
}


@pytest.mark.parametrize("name", SPOILT)
def test_only_published_densities_leave_the_building(
    tmp_path: Path, density: DensityTable, certify_density: Certify, name: str
) -> None:
    with pytest.raises(PrivacyError):
        write_release(
            tmp_path / "r", table=SPOILT[name](density), certificate=certify_density(density)
        )
    assert not (tmp_path / "r").exists()


def test_too_many_counts_are_refused(
    tmp_path: Path,
    density: DensityTable,
    certify_density: Certify,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hushway.artefact.density_guard.MOST_CELLS", 23)
    with pytest.raises(PrivacyError, match="at most 23 counts"):
        write_release(tmp_path / "r", table=density, certificate=certify_density(density))


def test_every_density_needs_its_own_certificate(
    tmp_path: Path,
    density: DensityTable,
    plain_density: DensityTable,
    certify_density: Certify,
) -> None:
    for certificate, words in (
        (certify_density(density, family="od"), "family 'od'"),
        (certify_density(plain_density), "not those that the certificate"),
    ):
        with pytest.raises(ReleaseError, match=words):
            write_release(tmp_path / "r", table=density, certificate=certificate)


def test_a_cover_of_larger_areas_is_refused(
    tmp_path: Path, density: DensityTable, certify_density: Certify
) -> None:
    cover = density.universe.cover
    pieces = dataclasses.replace(cover.pieces, size=cover.pieces.size * 1.01)
    larger = dataclasses.replace(cover, pieces=pieces)
    universe = dataclasses.replace(density.universe, cover=larger)
    table = dataclasses.replace(density, universe=universe)
    with pytest.raises(ReleaseError, match="larger than the area"):
        write_release(tmp_path / "r", table=table, certificate=certify_density(table))


def bounded(event: Event, **changes: int) -> Event:
    bound = dataclasses.replace(event.bound, **changes)
    return counting_event(event.query, event.cells, SPEND, bound)


def wrong_events(events: tuple[Event, ...]) -> dict[str, tuple[Event, ...]]:
    series, sites, visits = events
    select = SelectEvent(query="visits by (cluster, bin)", cells=16, bound=ONE, rate=Fraction(1))
    return {
        "no series": (sites, visits),
        "two series": (series, *events),
        "no histogram": (series, visits),
        "no total": (series, sites),
        "other cells": (dataclasses.replace(series, cells=8), sites, visits),
        "half the parts": (bounded(series, each=6), sites, visits),
        "parts of a visit left over": (bounded(series, total=59), sites, visits),
        "more visits than bins": (bounded(series, total=12 * 9), sites, visits),
        "fewer cells touched": (bounded(series, cells=1), sites, visits),
        "two visits a person": (series, bounded(sites, each=2, total=2), visits),
        "other sites": (series, dataclasses.replace(sites, cells=3), visits),
        "two totals": (series, sites, dataclasses.replace(visits, cells=2)),
        "other totals of clusters": (
            *events,
            counting_event("visits by cluster", 5, SPEND, ONE),
        ),
        "something else": (*events, counting_event("heads", 1, SPEND, ONE)),
        "a choice instead of a measurement": (select, sites, visits),
        "a choice that is a measurement": (
            *events,
            counting_event("coefficients of each cluster", 16, SPEND, series.bound),
        ),
    }


@pytest.mark.parametrize(
    "name", list(wrong_events(tuple(counting_event("q", 1, SPEND, ONE) for _ in range(3))))
)
def test_the_events_are_those_of_the_published_numbers(
    tmp_path: Path,
    density: DensityTable,
    certify_density: Certify,
    events_for: EventsFor,
    name: str,
) -> None:
    events = wrong_events(events_for(density))[name]
    with pytest.raises(ReleaseError, match="differ about"):
        write_release(
            tmp_path / "r", table=density, certificate=certify_density(density, events=events)
        )


def test_what_is_measured_is_published(
    tmp_path: Path, plain_density: DensityTable, certify_density: Certify, events_for: EventsFor
) -> None:
    events = (*events_for(plain_density), counting_event("all visits", 1, SPEND, ONE))
    with pytest.raises(ReleaseError, match="differ about all visits"):
        write_release(
            tmp_path / "r",
            table=plain_density,
            certificate=certify_density(plain_density, events=events),
        )


def test_totals_of_clusters_and_cuts_may_be_paid_for(
    tmp_path: Path, density: DensityTable, certify_density: Certify, events_for: EventsFor
) -> None:
    own = events_for(density)
    all_in_one = Bound(cells=5, each=60, total=60)
    for cells in (1, 3):
        events = (
            *own,
            counting_event("visits by cluster", cells, SPEND, all_in_one),
            cutting_event(
                "coefficients of each cluster",
                own[0].cells,
                loss_of_cuts(Fraction(1, 100)),
                own[0].bound,
            ),
        )
        certificate = certify_density(density, events=events, epsilon_delta=None)
        folder = write_release(tmp_path / str(cells), table=density, certificate=certificate)
        assert verify(folder).passed

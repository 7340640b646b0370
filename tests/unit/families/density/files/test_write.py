import dataclasses
import json
from pathlib import Path

import pytest

from hushway.errors import ReleaseError
from hushway.families.density.fit.table import DensityTable
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.privacy.loss import Measure
from support.density_scenes import (
    bins_of,
    by_positions,
    density_certificate,
    density_of,
    rectangles,
)
from support.forging import failed, forged_release, sentence
from support.long import often


def test_the_data_package_tells_the_facts(tower_release: Path, density: DensityTable) -> None:
    package = json.loads((tower_release / "datapackage.json").read_bytes())
    assert "of the visits stand in counts" in package["table"].pop("known")
    assert package["table"] == {
        "areas": 3,
        "periods": 8,
        "rows": 24,
        "visits": round(float(density.counts.sum()), 2),
        "places": True,
        "sites": 2,
        "cells_of_the_cover": 3,
        "clusters": 2,
        "quanta": 12,
        "sites_measured": True,
        "measured_activity": [int(people) for people in density.measured_activity],
        "measured_total": 12345,
        "measured_left_out": None,
        "noise": dict(density.noise),
        "fit": {"kept": 4.5, "night": {"days": 2}},
    }
    described = {each["path"]: each for each in package["resources"]}
    assert "12 parts are one visit" in described["measured_series.parquet"]["description"]
    assert "every part of every day" in described["periods.csv"]["description"]
    assert [each["path"] for each in package["omitted"]] == ["noisy_answers.parquet"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cuts", often([True, False]))
@pytest.mark.parametrize("clustered", [True, False])
@pytest.mark.parametrize("histogram", [True, False])
@pytest.mark.parametrize(("days", "minutes"), [(1, 1440), (3, 30)])
def test_densities_of_every_kind_verify(
    tmp_path: Path, *, histogram: bool, clustered: bool, cuts: bool, days: int, minutes: int
) -> None:
    universe = by_positions(rectangles(5, 1), bins_of(days, minutes))
    table = density_of(universe, histogram=histogram, clustered=clustered, quanta=1)
    certificate = density_certificate(table, clustered=clustered, cuts=cuts)
    asked = {event.query: event.cells for event in certificate.terms.events}
    # What clusters are chosen by: the total of every cell of the cover, or of all together.
    assert asked.get("visits by cluster") == ((1 if histogram else 5) if clustered else None)
    assert ("coefficients of each cluster" in asked) == cuts
    folder = write_release(tmp_path / "r", table=table, certificate=certificate)
    assert verify(folder).passed


def test_a_cover_of_larger_areas_is_refused(tmp_path: Path, density: DensityTable) -> None:
    cover = density.universe.cover
    pieces = dataclasses.replace(cover.pieces, size=cover.pieces.size * 1.01)
    larger = dataclasses.replace(cover, pieces=pieces)
    universe = dataclasses.replace(density.universe, cover=larger)
    table = dataclasses.replace(density, universe=universe)
    with pytest.raises(ReleaseError, match="larger than the area"):
        write_release(tmp_path / "r", table=table, certificate=density_certificate(table))


def test_an_account_in_epsilon_cannot_pay_for_gaussian_noise(
    tmp_path: Path, density: DensityTable
) -> None:
    certificate = density_certificate(density)
    account = dataclasses.replace(certificate.account, measure=Measure.PURE)
    other = dataclasses.replace(certificate, account=account)
    words = "in a currency that cannot spend on this release"
    with pytest.raises(ReleaseError, match=words):
        write_release(tmp_path / "r", table=density, certificate=other)
    verification = verify(forged_release(tmp_path / "r", table=density, certificate=other))
    assert failed(verification) == {"account"}
    assert words in sentence(verification, "account")

"""Ground and names under the reader's map, in Chromium: seen by all, and asked of nobody."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from matplotlib.image import imread
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page, expect

from browser.test_reader import Sites
from hushway.sites.write import site
from support.little_city import write_features
from support.little_sites import change_atlas, hosted, little_release

# As the palette of light pages has it.
_WATER = (0xD3, 0xE4, 0xEF)
_SLUGS = {"od": "little-od", "density": "little-density"}


def _ground(folder: Path) -> Path:
    river = [[-8.62, 41.085], [-8.6, 41.104], [-8.58, 41.106], [-8.57, 41.125]]
    lake = [[-8.597, 41.102], [-8.593, 41.102], [-8.593, 41.108], [-8.597, 41.102]]
    shapes = (
        ({"railway": "rail"}, {"type": "LineString", "coordinates": river}),
        ({"natural": "water"}, {"type": "Polygon", "coordinates": [lake]}),
    )
    file = folder / "public.geojson"
    write_features(
        file, [{"type": "Feature", "properties": tag, "geometry": each} for tag, each in shapes]
    )
    return file


@pytest.fixture(scope="module")
def sites(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    folder = tmp_path_factory.mktemp("ground")
    releases = [
        little_release(folder / family, family, seed=1, title=f"Little {family}")
        for family in _SLUGS
    ]
    one_file = folder / "report.html"
    site(releases, to=folder / "site", one_file=one_file, ground=[_ground(folder)])
    with hosted(folder / "site") as address:
        yield Sites(folder / "site", address, one_file, browser)


def _differs(one: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    """Whether maps of the same size show something else."""
    assert one.shape == other.shape
    return not np.array_equal(one, other)


def _map(page: Page, folder: Path) -> NDArray[np.float32]:
    chart = page.get_by_test_id("map")
    expect(chart).to_have_attribute("data-state", "drawn", timeout=30_000)
    seen = folder / "map.png"
    chart.screenshot(path=seen)
    return np.asarray(imread(seen))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("family", _SLUGS)
def test_ground_is_drawn_and_read_by_everybody(
    sites: Sites, family: str, scheme: Literal["light", "dark"], tmp_path: Path
) -> None:
    # The same site without its ground, as a server without the file would never be asked for it.
    bare = tmp_path / "site"
    shutil.copytree(sites.folder, bare)
    listed = bare / "site.json"
    listed.write_text(listed.read_text("utf-8").replace('"ground":true', '"ground":false'), "utf-8")
    with sites.opened(f"#{_SLUGS[family]}", color_scheme=scheme) as page:
        on_ground = _map(page, tmp_path)
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
    with (
        hosted(bare) as address,
        sites.opened(f"#{_SLUGS[family]}", address, color_scheme=scheme) as page,
    ):
        assert _differs(_map(page, tmp_path), on_ground)


def test_names_of_places_are_on_the_map(sites: Sites, tmp_path: Path) -> None:
    nameless = tmp_path / "site"
    shutil.copytree(sites.folder, nameless)
    change_atlas(
        nameless,
        _SLUGS["od"],
        lambda facts: facts["places"].update(names=[" " for _ in facts["places"]["names"]]),
    )
    with sites.opened(f"#{_SLUGS['od']}") as page:
        named = _map(page, tmp_path)
    with hosted(nameless) as address, sites.opened(f"#{_SLUGS['od']}", address) as page:
        assert _differs(_map(page, tmp_path), named)


def test_one_file_holds_its_ground(sites: Sites, tmp_path: Path) -> None:
    with sites.opened(f"#{_SLUGS['od']}", sites.one_file.as_uri()) as page:
        pixels = np.round(255 * _map(page, tmp_path)[:, :, :3])
        assert np.all(pixels == _WATER, axis=2).any()


def test_hostile_ground_is_one_clear_sentence(sites: Sites, tmp_path: Path) -> None:
    harmed = tmp_path / "site"
    shutil.copytree(sites.folder, harmed)
    file = harmed / "releases" / _SLUGS["od"] / "ground.geojson"
    facts = json.loads(file.read_bytes())
    facts["features"][0]["geometry"]["coordinates"] = [[[1e300, None]]]
    file.write_text(json.dumps(facts), "utf-8")
    with hosted(harmed) as address, sites.opened(f"#{_SLUGS['od']}", address) as page:
        expect(page.get_by_test_id("problem")).to_contain_text("ground")

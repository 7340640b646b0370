"""Ground under the map: from a plan's public files to release, picture, verification and site."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hushway.cli.app import app
from hushway.errors import GeographyError
from hushway.families.verify import verify
from hushway.geography.ground import Ground
from hushway.release.folder.seal import SEAL, Seal, files_of, sealed_file
from hushway.sites.write import site
from support.little_city import PLACES, write_features
from support.little_plans import FAMILIES
from support.little_sites import little_release

_GROUND = "ground.geojson"


def _coast(folder: Path, west: float = -8.62) -> Path:
    line = [[west, 41.09], [west + 0.02, 41.105], [west + 0.05, 41.12]]
    lake = [[west + 0.02, 41.1], [west + 0.03, 41.1], [west + 0.03, 41.105], [west + 0.02, 41.1]]
    features = [
        {"type": "LineString", "coordinates": line},
        {"type": "Polygon", "coordinates": [lake]},
    ]
    file = folder / "coast.geojson"
    tags = ({"railway": "rail"}, {"natural": "water"})
    write_features(
        file,
        [
            {"type": "Feature", "properties": tag, "geometry": each}
            for tag, each in zip(tags, features, strict=True)
        ],
    )
    return file


@pytest.mark.parametrize("family", FAMILIES)
def test_a_release_brings_its_ground_and_its_picture_stands_on_it(
    family: str, tmp_path: Path
) -> None:
    files = [str(_coast(tmp_path))]
    bare = little_release(tmp_path / "bare", family, seed=1)
    release = little_release(tmp_path / "on", family, seed=1, ground=files)
    found = verify(release)
    # Only the noise, which is a test's, is complained of.
    assert [each.name for each in found.checks if not each.passed] == ["randomness"]
    assert "ground" in {each.name for each in found.checks}
    assert _GROUND in (release / SEAL).read_text(encoding="utf-8")
    assert not (bare / _GROUND).exists()
    assert set(Ground.from_json((release / _GROUND).read_bytes()).shapes) == {"water", "transit"}
    assert (release / "picture.png").read_bytes() != (bare / "picture.png").read_bytes()


def test_ground_that_was_changed_and_sealed_again_is_found(tmp_path: Path) -> None:
    release = little_release(tmp_path / "on", "od", seed=1, ground=[str(_coast(tmp_path))])
    file = release / _GROUND
    file.write_bytes(file.read_bytes().replace(b'"kind":"transit"', b'"kind":"transit","who":"me"'))
    (release / SEAL).unlink()
    files = tuple(sealed_file(release, name) for name in files_of(release))
    (release / SEAL).write_bytes(Seal(files=files, signer=None).to_json())
    assert "ground" in {each.name for each in verify(release).checks if not each.passed}


def test_a_site_brings_the_ground_of_releases_or_another(tmp_path: Path) -> None:
    coast = _coast(tmp_path)
    bare = little_release(tmp_path / "bare", "od", seed=1)
    release = little_release(tmp_path / "on", "od", seed=1, ground=[str(coast)])
    site([bare, release], to=tmp_path / "own")
    slugs = json.loads((tmp_path / "own" / "site.json").read_bytes())["releases"]
    assert [each.get("ground") for each in slugs] == [None, True]
    to = ["--to", str(tmp_path / "given"), "--one-file", str(tmp_path / "one.html")]
    done = CliRunner().invoke(app, ["site", str(bare), *to, "--ground", str(coast)])
    assert done.exit_code == 0, done.output
    (given,) = (tmp_path / "given" / "releases").glob(f"*/{_GROUND}")
    assert given.read_bytes() == (release / _GROUND).read_bytes()
    # The release itself stays as it was sealed.
    assert not [*(tmp_path / "given").rglob(f"files/{_GROUND}")]
    assert '"kind":"transit"' in (tmp_path / "one.html").read_text(encoding="utf-8")


def test_ground_of_another_city_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    far = str(_coast(tmp_path, west=PLACES[0][1] + 30))
    with pytest.raises(GeographyError, match="near the places") as refused:
        little_release(tmp_path / "far", "od", seed=1, ground=[far])
    assert "same city" in str(refused.value.advice)
    assert not (tmp_path / "far" / "release").exists()

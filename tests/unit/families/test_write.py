import dataclasses
import errno
import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.errors import HushwayError, PrivacyError, ReleaseError
from hushway.families.od.fit.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.geography.locations import Location, Locations, PlaceLabels
from hushway.privacy.certificate import Certificate
from hushway.privacy.measured import Internal
from support.od_scenes import small_certificate


def names(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_a_signed_release_holds_its_signature(release: Path, signed_release: Path) -> None:
    assert names(signed_release) == sorted([*names(release), "seal.sig"])


def test_nothing_else_is_left_beside_a_release(release: Path) -> None:
    assert [path.name for path in release.parent.iterdir()] == ["release"]


@pytest.mark.parametrize("fails", [False, True])
def test_garbage_is_left_alone_only_while_the_picture_is_drawn(
    tmp_path: Path,
    table: ODTable,
    certificate: Certificate,
    monkeypatch: pytest.MonkeyPatch,
    *,
    fails: bool,
) -> None:
    seen: list[bool] = []

    def picture(_contents: object, _certificate: object) -> bytes:
        seen.append(gc.isenabled())
        if fails:
            raise ValueError
        return b"drawn"

    monkeypatch.setattr("hushway.families.od.files.published.ODContents.picture", picture)
    with pytest.raises(ValueError) if fails else nullcontext():  # noqa: PT011  the test's own
        write_release(tmp_path / "drawn", table=table, certificate=certificate)
    assert seen == [False]
    assert gc.isenabled()


def test_a_sparse_release_says_what_a_missing_row_means(
    tmp_path: Path, sparse_table: ODTable
) -> None:
    folder = write_release(
        tmp_path / "sparse", table=sparse_table, certificate=small_certificate(sparse_table)
    )
    package = json.loads((folder / "datapackage.json").read_bytes())
    assert package["table"]["threshold"] == 20
    assert "measured below 20" in package["resources"][0]["description"]
    assert verify(folder).passed


def test_a_format_that_was_left_out_is_named_with_its_reason(
    tmp_path: Path, table: ODTable, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hushway.families.od.files.omx.MOST_CELLS", 99)
    folder = write_release(tmp_path / "large", table=table, certificate=certificate)
    omitted = json.loads((folder / "datapackage.json").read_bytes())["omitted"]
    assert {one["path"] for one in omitted} == {"trips.omx", "noisy_answers.parquet"}
    assert "Without `trips.omx`: " in (folder / "README.md").read_text("utf-8")
    assert not (folder / "trips.omx").exists()
    assert verify(folder).passed


def test_a_release_of_the_week_with_further_labels_describes_them_and_verifies(
    tmp_path: Path, table: ODTable
) -> None:
    places = table.universe.locations.places
    county = PlaceLabels(column="county", values=("A", "B", "", "A", "B"))
    universe = ODCells(
        locations=Locations(places, (county,)),
        periods=dataclasses.replace(table.universe.periods, cycle="week"),
    )
    weekly = ODTable(
        universe=universe,
        cells=np.array([3, 500], dtype=np.int64),
        counts=np.array([4, 9], dtype=np.int64),
        standard_errors=table.standard_errors[:2],
        threshold=None,
        zeros_left_out=True,
    )
    folder = write_release(tmp_path / "week", table=weekly, certificate=small_certificate(weekly))
    assert verify(folder).passed
    package = json.loads((folder / "datapackage.json").read_bytes())
    for resource in package["resources"]:
        if resource["path"] in ("places.csv", "periods.csv"):
            header = (folder / resource["path"]).read_text().splitlines()[0]
            assert [field["name"] for field in resource["schema"]["fields"]] == header.split(",")


def test_missing_parents_are_made(tmp_path: Path, table: ODTable, certificate: Certificate) -> None:
    folder = write_release(tmp_path / "a" / "b" / "c", table=table, certificate=certificate)
    assert verify(folder).passed


def test_progress_is_told(tmp_path: Path, table: ODTable, certificate: Certificate) -> None:
    told: list[str] = []
    write_release(tmp_path / "r", table=table, certificate=certificate, progress=told.append)
    assert told[0] == "Writing trips.parquet"
    assert told[-2:] == ["Drawing picture.png", "Writing the certificate"]


@pytest.mark.parametrize("kind", ["folder", "file", "dangling link"])
def test_a_release_is_never_overwritten(
    tmp_path: Path, table: ODTable, certificate: Certificate, kind: str
) -> None:
    place = tmp_path / "taken"
    if kind == "folder":
        place.mkdir()
    elif kind == "file":
        place.write_text("mine")
    else:
        place.symlink_to(tmp_path / "nowhere")
    with pytest.raises(ReleaseError, match="never overwritten"):
        write_release(place, table=table, certificate=certificate)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_folder_that_appears_meanwhile_is_not_overwritten(
    tmp_path: Path, table: ODTable, certificate: Certificate
) -> None:
    place = tmp_path / "taken"
    with pytest.raises(ReleaseError, match="never overwritten"):
        write_release(
            place,
            table=table,
            certificate=certificate,
            progress=lambda _: place.mkdir(exist_ok=True),
        )
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    "problem", [OSError(errno.ENOSPC, "No space left on device"), OSError("no words")]
)
@pytest.mark.parametrize("where", ["write_rows", "write_omx"])
def test_a_full_disk_is_one_clear_error_and_leaves_nothing(
    tmp_path: Path,
    *,
    table: ODTable,
    certificate: Certificate,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    problem: OSError,
) -> None:
    def fail(_table: ODTable, path: Path) -> None:
        path.write_bytes(b"half")
        raise problem

    monkeypatch.setattr(f"hushway.families.od.files.published.{where}", fail)
    with pytest.raises(ReleaseError, match="cannot be written") as caught:
        write_release(tmp_path / "full", table=table, certificate=certificate)
    assert "disk" in caught.value.advice
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), ValueError("bug")])
def test_whatever_happens_nothing_half_written_stays(
    tmp_path: Path, table: ODTable, certificate: Certificate, problem: BaseException
) -> None:
    def interrupt(words: str) -> None:
        if "picture" in words:
            raise problem

    with pytest.raises(type(problem)):
        write_release(tmp_path / "r", table=table, certificate=certificate, progress=interrupt)
    assert list(tmp_path.iterdir()) == []


def test_a_parent_that_is_no_folder_is_a_clear_error(
    tmp_path: Path, table: ODTable, certificate: Certificate
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReleaseError, match="cannot be written"):
        write_release(tmp_path / "file" / "r", table=table, certificate=certificate)


KILLED = """
import os, signal, sys
from pathlib import Path
from hushway.families.write import write_release

sys.path.insert(0, sys.argv[1])
from support.od_scenes import small_certificate, small_table

table = small_table()

def die(words):
    if words == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)

write_release(
    Path(sys.argv[2]), table=table, certificate=small_certificate(table), progress=die
)
"""


@pytest.mark.parametrize("moment", ["Writing trips.csv", "Writing the certificate"])
def test_a_killed_run_leaves_no_release_and_the_next_one_clears_up(
    tmp_path: Path, table: ODTable, certificate: Certificate, moment: str
) -> None:
    place = tmp_path / "release"
    tests = str(Path(__file__).parents[2])
    killed = subprocess.run([sys.executable, "-c", KILLED, tests, str(place), moment], check=False)
    assert killed.returncode == -signal.SIGKILL
    [left] = tmp_path.iterdir()
    assert left.name == ".release.partial"
    write_release(place, table=table, certificate=certificate)
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
    assert verify(place).passed


def test_the_hidden_folder_of_a_living_run_is_left_alone(
    tmp_path: Path, table: ODTable, certificate: Certificate
) -> None:
    hidden: list[list[str]] = []

    def write_another(words: str) -> None:
        if words == "Writing trips.csv":
            hidden.append([path.name for path in tmp_path.iterdir()])
            with pytest.raises(ReleaseError, match="Another process"):
                write_release(tmp_path / "release", table=table, certificate=certificate)

    write_release(
        tmp_path / "release", table=table, certificate=certificate, progress=write_another
    )
    assert hidden == [[".release.partial"]]
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
    assert verify(tmp_path / "release").passed


def test_a_release_is_readable_as_the_system_allows(release: Path) -> None:
    mask = os.umask(0)
    os.umask(mask)
    assert release.stat().st_mode & 0o777 == 0o777 & ~mask
    assert (release / "trips.csv").stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_subclass_of_a_table_is_refused(
    tmp_path: Path, table: ODTable, certificate: Certificate
) -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Fuller(ODTable):
        truth: object = None

    fuller = Fuller(**{f.name: getattr(table, f.name) for f in dataclasses.fields(table)})
    with pytest.raises(PrivacyError, match="Fuller"):
        write_release(tmp_path / "r", table=fuller, certificate=certificate)


def test_a_release_needs_a_certificate(tmp_path: Path, table: ODTable, certificate: Any) -> None:
    for other in (None, Internal(certificate), certificate.to_json()):
        with pytest.raises(PrivacyError, match="certificate"):
            write_release(tmp_path / "r", table=table, certificate=other)


def test_an_internal_value_slipped_into_parameters_is_refused(
    tmp_path: Path, table: ODTable
) -> None:
    slips: tuple[Callable[[Any], None], ...] = (
        lambda terms: terms.mechanism.parameters.update(late=Internal(3)),
        lambda terms: terms.contribution.limits.update(late=Internal(3)),
    )
    for slip in slips:
        certificate = small_certificate(table)
        slip(certificate.terms)
        with pytest.raises(HushwayError, match=r"against the truth|does not limit contributions"):
            write_release(tmp_path / "r", table=table, certificate=certificate)
        assert list(tmp_path.iterdir()) == []
        with pytest.raises(PrivacyError, match="against the truth"):
            certificate.to_json()


def test_places_that_cannot_be_read_back_are_refused(tmp_path: Path, table: ODTable) -> None:
    odd = Location(id="a", name="A", lon=np.float64(0.5), lat=0.0, zone="z")
    places = Locations((odd, *table.universe.locations.places[1:]))
    universe = dataclasses.replace(table.universe, locations=places)
    other = dataclasses.replace(table, universe=universe)
    with pytest.raises(ReleaseError, match="read back"):
        write_release(tmp_path / "r", table=other, certificate=small_certificate(other))

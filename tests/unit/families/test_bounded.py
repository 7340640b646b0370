"""Files that are larger, or of another kind, than any release has."""

import os
import socket
import tracemalloc
from pathlib import Path

import pytest

from hushway.errors import ReleaseError
from hushway.families.verify import verify
from hushway.privacy.certificate import canonical_json, parsed_json
from hushway.release.folder.finding import Result
from hushway.release.folder.seal import SEAL, Seal, SealedFile, files_of
from hushway.release.untrusted import limits as bounded
from hushway.release.untrusted.limits import csv_rows, holds, read_plain
from support.forging import failed, sentence
from support.long import often
from support.mutations import seal
from support.small_order import WEAK_KEYS

SMALL = ["seal.json", "certificate.json", "datapackage.json", "picture.png", "places.csv"]


@pytest.mark.parametrize("name", often(SMALL))
def test_a_huge_file_is_refused_before_it_is_read(release: Path, name: str) -> None:
    size = 200_000_000
    os.truncate(release / name, size)
    if name != SEAL:
        seal(release)
    tracemalloc.start()
    try:
        found = verify(release)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.result is Result.FAILED
    assert any(name in check.sentence and "larger" in check.sentence for check in found.checks)
    # Sealed files are hashed some bytes at a time; nothing holds a file of this size.
    assert most < size / 2


def test_a_release_with_too_many_bytes_is_not_hashed(
    release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hushway.families.sealed.RELEASE_BYTES", 1000)
    monkeypatch.setattr("hushway.families.sealed.sealed_file", pytest.fail)
    assert "The release is larger than it may be" in sentence(verify(release), "files")


def test_a_file_of_another_size_than_sealed_is_not_hashed(
    release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.truncate(release / "trips.csv", 5_000_000_000)
    hashed: list[str] = []
    own = "hushway.families.sealed.sealed_file"
    sealed = Seal.from_json((release / SEAL).read_bytes())
    known = {file.path: file for file in sealed.files}

    def noted(_: Path, name: str) -> SealedFile:
        hashed.append(name)
        return known[name]

    monkeypatch.setattr(own, noted)
    assert "changed: trips.csv" in sentence(verify(release), "files")
    assert "trips.csv" not in hashed


def test_a_folder_with_more_files_than_any_release_is_not_walked_to_its_end(
    release: Path,
) -> None:
    for number in range(300):
        (release / f"extra-{number}").touch()
    assert "more than 256 files" in sentence(verify(release), "files")


def test_a_file_listed_twice_is_refused(release: Path) -> None:
    facts = parsed_json((release / SEAL).read_bytes())
    other = {**facts["files"][0], "sha256": "0" * 64}
    for again in (facts["files"][0], other):
        data = canonical_json({**facts, "files": [again, *facts["files"]]})
        (release / SEAL).write_bytes(data)
        assert "more than once" in sentence(verify(release), "seal")
        assert verify(release).result is Result.FAILED


@pytest.mark.parametrize("key", WEAK_KEYS, ids=bytes.hex)
def test_a_seal_by_a_key_of_small_order_is_refused(release: Path, key: bytes) -> None:
    facts = parsed_json((release / SEAL).read_bytes())
    (release / SEAL).write_bytes(canonical_json({**facts, "signed_by": key.hex()}))
    found = verify(release)
    assert "weak" in sentence(found, "seal")
    assert found.result is Result.FAILED


def test_a_hard_link_is_refused(release: Path, tmp_path: Path) -> None:
    os.link(release / "trips.csv", tmp_path / "elsewhere.csv")
    assert "trips.csv is a hard link" in sentence(verify(release), "files")
    (tmp_path / "elsewhere.csv").unlink()
    assert verify(release).passed
    os.link(release / SEAL, tmp_path / "elsewhere.json")
    assert "seal.json is a hard link" in sentence(verify(release), "seal")


@pytest.mark.parametrize("name", ["trips.csv", "seal.json", "extra"])
def test_links_and_pipes_are_refused_and_never_waited_for(
    release: Path, tmp_path: Path, name: str
) -> None:
    path = release / name
    if path.exists():
        path.rename(tmp_path / "moved")
    check = "seal" if name == SEAL else "files"
    os.mkfifo(path)
    assert "pipe" in sentence(verify(release), check)
    path.unlink()
    path.symlink_to(tmp_path / "moved")
    assert failed(verify(release)) == {check}
    path.unlink()
    path.symlink_to("/dev/zero")
    assert failed(verify(release)) == {check}


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind("s")
        with pytest.raises(ReleaseError, match="s is a socket"):
            files_of(tmp_path)


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="folder"):
        read_plain(tmp_path, 10)


def test_bytes_are_compared_to_the_last_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    assert holds(path, [b"ab", b"c"])
    assert not any(holds(path, [other]) for other in (b"ab", b"abd", b"abcd", b""))
    assert not holds(tmp_path / "nothing", [])


def test_rows_of_a_list_are_as_long_as_its_header_and_not_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert csv_rows("x", b"a,b\n1,2\n") == [["a", "b"], ["1", "2"]]
    for data in (b"a,b\n1\n", b"a\n\n", b"\n\n"):
        with pytest.raises(ReleaseError, match="x is not as hushway writes it"):
            csv_rows("x", data)
    with pytest.raises(ReleaseError, match="lengths"):
        csv_rows("x", b"a,b\n", width=3)
    monkeypatch.setattr(bounded, "_MOST_LIST_ROWS", 2)
    assert len(csv_rows("x", b"a\n1\n2\n")) == 3
    with pytest.raises(ReleaseError, match="more than 2"):
        csv_rows("x", b"a\n1\n2\n3\n")

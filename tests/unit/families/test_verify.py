import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import openmatrix
import pyarrow.parquet as pq
import pytest

from hushway.errors import ReleaseError
from hushway.families.od.fit.table import ODTable
from hushway.families.sealed import read_certificate
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.privacy.certificate import Certificate
from hushway.privacy.signing import SigningKey, load_signing_key, new_key_pair
from hushway.release.folder.finding import Outcome, Result
from hushway.release.folder.seal import SIGNATURE, files_of, signature_json
from hushway.release.wording import number_text
from support.certificates import UNPROTECTED
from support.forging import failed, sentence
from support.mutations import rewrite, seal
from support.od_scenes import small_certificate, small_table


def test_an_untouched_release_passes_every_check(release: Path) -> None:
    verification = verify(release)
    assert verification.passed
    assert verification.intact
    assert verification.result is Result.UNSIGNED
    assert [check.name for check in verification.checks] == [
        "seal",
        "files",
        "signature",
        "certificate",
        "software",
        "epsilon and delta",
        "account",
        "randomness",
        "table facts",
        "page",
        "label",
        "release type",
        "geography",
        "rows",
        "formats",
        "terms",
        "package",
        "known",
    ]
    assert all(check.sentence.endswith(".") for check in verification.checks)


def test_a_release_that_nobody_signed_is_unsigned_and_not_verified(release: Path) -> None:
    verification = verify(release)
    outcomes = {check.name: check.outcome for check in verification.checks}
    assert outcomes.pop("signature") is Outcome.ABSENT
    assert set(outcomes.values()) == {Outcome.PASSED}
    assert str(verification.result) == "unsigned"
    assert "not who sealed it" in sentence(verification, "signature")


def test_only_the_key_that_was_given_makes_a_signature_verified(
    signed_release: Path, signing_key: SigningKey
) -> None:
    for key, result, words in (
        (None, Result.SIGNED, "a key to compare with the publisher's"),
        (signing_key.public, Result.VERIFIED, "the given key"),
    ):
        verification = verify(signed_release, key=key)
        assert verification.result is result
        assert all(check.outcome is Outcome.PASSED for check in verification.checks)
        assert words in sentence(verification, "signature")


def test_a_verification_says_which_release_it_is_about(
    signed_release: Path, signing_key: SigningKey, certificate: Certificate
) -> None:
    subject = verify(signed_release).subject
    assert subject is not None
    assert (subject.title, subject.release_id) == (certificate.title, certificate.release_id)
    assert subject.dataset == certificate.account.dataset
    assert subject.account_period == certificate.account.period
    assert (subject.window, subject.unit) == ("2 to 31 March 2026", str(certificate.terms.unit))
    assert subject.created_at == certificate.created_at
    assert subject.signer == signing_key.public
    assert subject.certificate == certificate.digest


def test_a_renamed_release_still_adds_up_and_is_seen_by_its_name(
    release: Path, certificate: Certificate
) -> None:
    rewrite(release, replace(certificate, title="Last year's release\u202e", release_id="older"))
    found = verify(release)
    assert found.passed
    assert found.subject is not None
    assert (found.subject.title, found.subject.release_id) == (
        r"Last year's release\u202e",
        "older",
    )


@pytest.mark.parametrize("name", ["seal.json", "seal.sig", "trips.csv", "certificate.json"])
def test_of_a_broken_release_nothing_is_repeated(signed_release: Path, name: str) -> None:
    path = signed_release / name
    path.write_bytes(path.read_bytes().replace(b"a", b"b", 1))
    found = verify(signed_release)
    assert not found.intact
    assert (found.subject, found.warning) == (None, None)


def test_only_a_signature_by_the_given_key_leaves_nothing_to_warn_of(
    release: Path, signed_release: Path, signing_key: SigningKey
) -> None:
    unsigned, signed = verify(release).warning, verify(signed_release).warning
    assert unsigned is not None
    for invented in ("unit", "limits", "spent", "epsilon", "budget limit", "numbers", "dates"):
        assert invented in unsigned
    assert signed is not None
    assert signing_key.public.fingerprint in signed
    assert verify(signed_release, key=signing_key.public).warning is None


@pytest.fixture(params=["plain", "signed"])
def any_release(request: pytest.FixtureRequest) -> Path:
    return request.getfixturevalue("release" if request.param == "plain" else "signed_release")


def test_one_changed_byte_anywhere_is_found(any_release: Path) -> None:
    for name in files_of(any_release):
        path = any_release / name
        data = path.read_bytes()
        size = len(data)
        for position in sorted({0, 1, size // 4, size // 2, 3 * size // 4, size - 2, size - 1}):
            changed = bytearray(data)
            changed[position] ^= 0x20
            path.write_bytes(changed)
            assert not verify(any_release).intact, (name, position)
        path.write_bytes(data)
    assert verify(any_release).passed


@pytest.mark.parametrize("name", [pytest.param("seal.json", marks=pytest.mark.long), "seal.sig"])
def test_every_byte_of_the_seal_counts(signed_release: Path, name: str) -> None:
    path = signed_release / name
    data = path.read_bytes()
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= 0x20 if position % 2 else 0x01
        path.write_bytes(changed)
        assert not verify(signed_release).intact, position


def test_one_added_or_missing_byte_anywhere_is_found(any_release: Path) -> None:
    for name in files_of(any_release):
        path = any_release / name
        data = path.read_bytes()
        for changed in (data + b"\n", data + b"\0", data[:-1], data[1:], b""):
            path.write_bytes(changed)
            assert not verify(any_release).intact, name
        path.write_bytes(data)
    assert verify(any_release).passed


def test_a_missing_file_is_found(any_release: Path, tmp_path: Path) -> None:
    for name in files_of(any_release):
        shutil.move(any_release / name, tmp_path / "away")
        assert not verify(any_release).intact, name
        shutil.move(tmp_path / "away", any_release / name)
    assert verify(any_release).passed


@pytest.mark.parametrize(
    "name", ["extra.txt", ".hidden", "flowmap/extra.csv", "new/extra.csv", "seal.sig"]
)
def test_an_added_file_is_found(release: Path, name: str) -> None:
    (release / name).parent.mkdir(exist_ok=True)
    (release / name).write_bytes(b"")
    assert failed(verify(release)) == {"files"}


def test_links_and_empty_folders_are_found(release: Path, tmp_path: Path) -> None:
    (release / "empty").mkdir()
    assert failed(verify(release)) == {"files"}
    (release / "empty").rmdir()
    shutil.move(release / "trips.csv", tmp_path / "trips.csv")
    (release / "trips.csv").symlink_to(tmp_path / "trips.csv")
    assert failed(verify(release)) == {"files"}


def test_a_release_can_be_moved_and_renamed(release: Path, tmp_path: Path) -> None:
    shutil.move(release, tmp_path / "elsewhere")
    assert verify(tmp_path / "elsewhere").passed


@pytest.mark.parametrize("kind", ["missing", "file", "empty", "other"])
def test_what_is_no_release_is_one_clear_error(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    if kind == "file":
        place.write_text("")
    elif kind != "missing":
        place.mkdir()
    if kind == "other":
        (place / "holiday.jpg").write_bytes(b"")
    with pytest.raises(ReleaseError, match="place"):
        verify(place)


@pytest.mark.parametrize("signed", [True, False])
def test_unprotected_releases_are_intact_but_do_not_pass(
    tmp_path: Path, table: ODTable, signing_key: SigningKey, *, signed: bool
) -> None:
    folder = write_release(
        tmp_path / "r",
        table=table,
        certificate=small_certificate(table, randomness=UNPROTECTED),
        signing_key=signing_key if signed else None,
    )
    for key in (None, signing_key.public) if signed else (None,):
        verification = verify(folder, key=key)
        assert verification.result is Result.NOT_PRIVATE
        assert str(verification.result) == "not private"
        assert verification.intact
        assert not verification.passed
        assert failed(verification) == {"randomness"}
    assert b"NOT PRIVATE" in (folder / "certificate.json").read_bytes()
    assert b"NOT PRIVATE" in (folder / "datapackage.json").read_bytes()


def test_a_signature_shows_who_sealed(signed_release: Path, signing_key: SigningKey) -> None:
    for key in (None, signing_key.public):
        verification = verify(signed_release, key=key)
        assert verification.passed
        assert signing_key.public.fingerprint in sentence(verification, "signature")


def test_a_key_asks_for_its_own_signature(
    tmp_path: Path, release: Path, signed_release: Path
) -> None:
    other = new_key_pair(tmp_path / "other.pem", tmp_path / "other.pub.pem")
    for signed in (release, signed_release):
        verification = verify(signed, key=other)
        assert failed(verification) == {"signature"}
        assert verification.result is Result.FAILED
    seal(signed_release)
    # The page still says that it is signed, and so does the map.
    assert failed(verify(signed_release)) == {"page", "package"}
    rewrite(signed_release, read_certificate(signed_release))
    assert verify(signed_release).result is Result.UNSIGNED
    assert failed(verify(signed_release, key=other)) == {"signature"}


def test_a_signature_of_another_release_does_not_fit(
    tmp_path: Path, signed_release: Path, *, table: ODTable, signing_key: SigningKey
) -> None:
    other = write_release(
        tmp_path / "other",
        table=table,
        certificate=small_certificate(table, title="Another"),
        signing_key=signing_key,
    )
    shutil.copy(other / SIGNATURE, signed_release / SIGNATURE)
    assert failed(verify(signed_release)) == {"signature"}


def test_a_stranger_cannot_sign_in_the_publishers_name(
    tmp_path: Path, signed_release: Path, signing_key: SigningKey
) -> None:
    new_key_pair(tmp_path / "s.pem", tmp_path / "s.pub.pem")
    stranger = load_signing_key(tmp_path / "s.pem")
    seal = (signed_release / "seal.json").read_bytes()
    (signed_release / SIGNATURE).write_bytes(signature_json(stranger, seal))
    assert failed(verify(signed_release)) == {"signature"}
    assert failed(verify(signed_release, key=signing_key.public)) == {"signature"}


# From here on somebody changes a file and seals the folder again: the claims must still add up.


@pytest.mark.parametrize(
    ("name", "old", "check"),
    [("certificate.html", "ε = {}", "page"), ("label.yaml", "epsilon: {}", "label")],
)
def test_papers_that_claim_less_than_the_certificate_are_found(
    release: Path, certificate: Certificate, *, name: str, old: str, check: str
) -> None:
    claim, path = certificate.claim.amount, release / name
    stated, less = old.format(number_text(claim)), old.format(number_text(claim / 10))
    text = path.read_text(encoding="utf-8")
    assert stated in text
    path.write_text(text.replace(stated, less), encoding="utf-8")
    seal(release)
    # The data package holds size and digest of the file as it was.
    assert failed(verify(release)) == {check, "package"}


class Trap:
    """Runs when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_a_verification_runs_no_code_of_strangers(release: Path, tmp_path: Path) -> None:
    with openmatrix.open_file(str(release / "trips.omx"), "a") as file:
        file["t0800_0830"].attrs["period"] = Trap(tmp_path / "sprung")
    seal(release)
    assert failed(verify(release)) == {"package"}
    assert not (tmp_path / "sprung").exists()
    with openmatrix.open_file(str(release / "trips.omx")) as file:
        _ = file["t0800_0830"].attrs["period"]
    assert (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda trips: trips.slice(1),
        lambda trips: trips.take([1, 0, *range(2, 80)]),
        lambda trips: trips.take([0, 0, *range(2, 80)]),
        lambda trips: trips.set_column(
            5, trips.schema.field(5), [[-1, *trips.column(5).to_pylist()[1:]]]
        ),
        lambda trips: trips.set_column(
            6, trips.schema.field(6), [[float("nan"), *trips.column(6).to_pylist()[1:]]]
        ),
        lambda trips: trips.append_column("truth", [list(range(80))]),
    ],
    ids=["fewer", "swapped", "repeated", "negative", "no number", "another column"],
)
def test_rows_that_no_release_may_hold_are_found_under_a_new_seal(
    release: Path, change: Callable[[Any], Any]
) -> None:
    path = release / "trips.parquet"
    trips = change(pq.read_table(path))
    pq.write_table(trips, path)
    seal(release)
    assert "rows" in failed(verify(release))


def test_an_added_file_is_found_under_a_new_seal(release: Path) -> None:
    (release / "truth.csv").write_bytes(b"")
    seal(release)
    assert failed(verify(release)) == {"package"}


@pytest.mark.parametrize(
    ("size", "check"), [("{}.0", "seal"), ("{}e0", "seal"), ("-{}", "files"), ("0{}", "seal")]
)
def test_sizes_in_a_seal_are_whole_numbers(release: Path, size: str, check: str) -> None:
    seal = (release / "seal.json").read_text()
    number = str((release / "periods.csv").stat().st_size)
    changed = seal.replace(f'"bytes": {number},', f'"bytes": {size.format(number)},')
    assert changed != seal
    (release / "seal.json").write_text(changed)
    assert failed(verify(release)) == {check}


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/hostname", "trips.csv/../trips.csv"])
def test_a_seal_cannot_name_files_outside(release: Path, path: str) -> None:
    seal = json.loads((release / "seal.json").read_bytes())
    seal["files"].append({"path": path, "bytes": 0, "sha256": "0" * 64})
    seal["files"].sort(key=lambda file: file["path"])
    (release / "seal.json").write_text(
        json.dumps(seal, sort_keys=True, indent=2, ensure_ascii=False) + "\n"
    )
    verification = verify(release)
    assert failed(verification) == {"files"}
    assert any("missing" in check.sentence for check in verification.checks)


def test_cells_for_trips_within_a_place_are_checked_too(tmp_path: Path) -> None:
    table = small_table(include_intrazonal=True)
    folder = write_release(tmp_path / "r", table=table, certificate=small_certificate(table))
    assert verify(folder).passed
    assert len(table.cells) == 100

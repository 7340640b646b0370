"""The ledger binds the published numbers: a stolen key cannot seal other ones in their name."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import hushway
from hushway.families.load import load_plan, prepare
from hushway.families.od.fit.table import ODTable
from hushway.families.sealed import sealed_release
from hushway.families.write import publishable, write_release
from hushway.privacy.certificate import Certificate
from hushway.privacy.ledger import Ledger
from hushway.privacy.signing import load_public_key, load_signing_key, new_key_pair
from hushway.release.folder.published_file import Contents
from hushway.steward import publish as publishing
from hushway.steward.settle import note
from support.forging import failed, sentence
from support.scene import PLAN, Scene


@dataclass(frozen=True, kw_only=True)
class Signed:
    """A release that was signed, and the table that it holds."""

    folder: Path
    table: ODTable

    def ledger(self) -> Ledger:
        return Ledger.connect(self.folder / "ledger.db")


@pytest.fixture
def signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Signed:
    scene = Scene.prepared(tmp_path / "city", "od")
    new_key_pair(scene.folder / "agency.pem", scene.folder / "agency.pub.pem", passphrase=None)
    scene.say("release.signing_key", "agency.pem")
    scene.say("mechanism", {"name": "laplace", "form": "dense"})
    scene.write_plan()
    tables = []

    def looked_at(table: ODTable, certificate: Certificate) -> Contents:
        tables.append(table)
        return publishable(table, certificate)

    monkeypatch.setattr(publishing, "publishable", looked_at)
    hushway.publish(prepare(load_plan(scene.folder / PLAN), rows=True))
    return Signed(folder=scene.folder, table=tables[0])


def test_other_numbers_that_are_sealed_with_a_stolen_key_are_not_those_of_the_ledger(
    signed: Signed,
) -> None:
    genuine, forged = signed.folder / "release", signed.folder / "forged"
    certificate, _ = sealed_release(genuine)
    write_release(
        forged,
        table=replace(signed.table, counts=signed.table.counts + 7),
        certificate=certificate,
        signing_key=load_signing_key(signed.folder / "agency.pem"),
    )
    public = load_public_key(signed.folder / "agency.pub.pem")
    with signed.ledger() as ledger:
        found = hushway.verify(genuine, key=public, ledger=ledger)
        assert found.passed
        assert "these very files" in sentence(found, "ledger")
        found = hushway.verify(forged, key=public, ledger=ledger)
    assert failed(found) == {"ledger"}
    assert "published with other files" in sentence(found, "ledger")


def test_an_entry_of_an_earlier_version_is_read_and_said_to_bind_less(signed: Signed) -> None:
    folder = signed.folder / "release"
    certificate, _ = sealed_release(folder)
    with signed.ledger() as ledger:
        with ledger._store.writing() as connection:
            connection.exec_driver_sql("DELETE FROM hushway_entry WHERE kind = 'publish'")
            connection.exec_driver_sql(
                "UPDATE hushway_account SET entries = 2, head = (SELECT hash FROM hushway_entry "
                "WHERE number = 2)"
            )
        ledger.publish(certificate.release_id, reference=certificate.digest)
        found = hushway.verify(folder, ledger=ledger)
        assert not note(ledger, certificate, "seal-sha256:0")
    assert found.passed
    assert "older kind" in sentence(found, "ledger")

"""A small city, its published tables and their certificates."""

import shutil
from pathlib import Path

import pytest

from hushway.families.od.fit.table import ODTable
from hushway.families.write import write_release
from hushway.privacy.certificate import Certificate
from hushway.privacy.signing import SigningKey, load_signing_key, new_key_pair
from support.od_scenes import learnt_table, small_certificate, small_table, summed_table


@pytest.fixture
def table() -> ODTable:
    return small_table()


@pytest.fixture
def sparse_table() -> ODTable:
    return small_table(threshold=20)


@pytest.fixture
def summed() -> ODTable:
    return summed_table()


@pytest.fixture
def learnt() -> ODTable:
    return learnt_table()


@pytest.fixture
def certificate(table: ODTable) -> Certificate:
    return small_certificate(table)


@pytest.fixture(scope="session")
def signing_key(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    keys = tmp_path_factory.mktemp("keys")
    new_key_pair(keys / "key.pem", keys / "key.pub.pem")
    return load_signing_key(keys / "key.pem")


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory, signing_key: SigningKey) -> Path:
    """A folder with one release, plain and signed, that nobody touches."""
    folder, table = tmp_path_factory.mktemp("written"), small_table()
    for name, key in (("release", None), ("signed", signing_key)):
        write_release(
            folder / name, table=table, certificate=small_certificate(table), signing_key=key
        )
    return folder


@pytest.fixture(scope="session")
def written_sums(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with sums that nobody touches."""
    table = summed_table()
    return write_release(
        tmp_path_factory.mktemp("sums") / "release",
        table=table,
        certificate=small_certificate(table),
    )


@pytest.fixture(scope="session")
def written_learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with learnt errors that nobody touches."""
    table = learnt_table()
    return write_release(
        tmp_path_factory.mktemp("learnt") / "release",
        table=table,
        certificate=small_certificate(table),
    )


@pytest.fixture
def learnt_release(written_learnt: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written_learnt, tmp_path / "learnt"))


@pytest.fixture
def summed_release(written_sums: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written_sums, tmp_path / "sums"))


@pytest.fixture
def release(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written / "release", tmp_path / "release"))


@pytest.fixture
def signed_release(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written / "signed", tmp_path / "signed"))

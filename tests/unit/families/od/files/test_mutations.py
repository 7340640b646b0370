"""Every field and every column, edited and sealed again: what is noticed, and what is not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hushway.families.od.fit.table import ODTable
from hushway.privacy.certificate import Certificate
from support.mutations import documented_as_free, fields_that_may_be_edited
from support.table_forgeries import columns_that_may_be_edited, documented_columns

Certify = Callable[..., Certificate]


@pytest.mark.long
def test_what_may_be_edited_in_a_plain_table_is_documented(release: Path, tmp_path: Path) -> None:
    assert fields_that_may_be_edited(release, tmp_path) == documented_as_free("od")


@pytest.mark.long
def test_what_may_be_edited_in_a_table_with_sums_is_documented(
    summed_release: Path, tmp_path: Path
) -> None:
    assert fields_that_may_be_edited(summed_release, tmp_path) == documented_as_free("od", "cbdp")


@pytest.mark.long
def test_what_may_be_edited_in_the_files_is_documented(
    summed: ODTable, certify: Certify, tmp_path: Path
) -> None:
    found = columns_that_may_be_edited(summed, certify(summed), tmp_path)
    assert found
    assert found <= documented_columns("od")


@pytest.mark.long
def test_what_may_be_edited_in_files_with_learnt_errors_is_documented(
    learnt: ODTable, certify: Certify, tmp_path: Path
) -> None:
    found = columns_that_may_be_edited(learnt, certify(learnt), tmp_path)
    assert found
    assert found <= documented_columns("od")


def test_what_may_be_edited_in_a_sparse_table_is_documented(
    sparse_table: ODTable, certify: Certify, tmp_path: Path
) -> None:
    found = columns_that_may_be_edited(sparse_table, certify(sparse_table), tmp_path)
    assert found
    assert found <= documented_columns("od")

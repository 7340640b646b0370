"""Every field and every column, edited and sealed again: what is noticed, and what is not."""

from pathlib import Path

import pytest

from support.mutations import documented_as_free, fields_that_may_be_edited
from support.od_scenes import small_certificate
from support.table_forgeries import columns_that_may_be_edited, documented_columns


@pytest.mark.long
def test_what_may_be_edited_beside_sums_is_documented(summed_release: Path, tmp_path: Path) -> None:
    found = fields_that_may_be_edited(summed_release, tmp_path)
    assert found == documented_as_free("od", "cbdp")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("summed", marks=pytest.mark.long),
        pytest.param("learnt", marks=pytest.mark.long),
        "sparse_table",
    ],
)
def test_what_may_be_edited_in_the_files_is_documented(
    request: pytest.FixtureRequest, tmp_path: Path, name: str
) -> None:
    table = request.getfixturevalue(name)
    found = columns_that_may_be_edited(table, small_certificate(table), tmp_path)
    assert found
    assert found <= documented_columns("od")

"""Every field of a certificate, edited and sealed again: what is noticed, and what is not."""

from pathlib import Path

import pytest

from support.mutations import documented_as_free, fields_that_may_be_edited


@pytest.mark.long
def test_what_may_be_edited_in_a_plain_table_is_documented(release: Path, tmp_path: Path) -> None:
    assert fields_that_may_be_edited(release, tmp_path) == documented_as_free("od")


@pytest.mark.long
def test_what_may_be_edited_in_a_table_with_sums_is_documented(
    summed_release: Path, tmp_path: Path
) -> None:
    assert fields_that_may_be_edited(summed_release, tmp_path) == documented_as_free("od", "cbdp")

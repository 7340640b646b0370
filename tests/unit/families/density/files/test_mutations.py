"""Every field and every column, edited and sealed again: what is noticed, and what is not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hushway.families.density.fit.table import DensityTable
from hushway.privacy.certificate import Certificate
from support.mutations import documented_as_free, fields_that_may_be_edited
from support.table_forgeries import columns_that_may_be_edited, documented_columns

Certify = Callable[..., Certificate]


@pytest.mark.long
def test_what_may_be_edited_is_documented(tower_release: Path, tmp_path: Path) -> None:
    assert fields_that_may_be_edited(tower_release, tmp_path) == documented_as_free("density")


def test_what_may_be_edited_in_the_files_is_documented(
    density: DensityTable, certify_density: Certify, tmp_path: Path
) -> None:
    found = columns_that_may_be_edited(density, certify_density(density), tmp_path)
    assert found
    assert found <= documented_columns("density")

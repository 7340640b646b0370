"""Every field of a certificate, edited and sealed again: what is noticed, and what is not."""

from pathlib import Path

import pytest

from support.mutations import documented_as_free, fields_that_may_be_edited


@pytest.mark.long
def test_what_may_be_edited_is_documented(tower_release: Path, tmp_path: Path) -> None:
    assert fields_that_may_be_edited(tower_release, tmp_path) == documented_as_free("density")

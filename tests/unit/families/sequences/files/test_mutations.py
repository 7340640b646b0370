"""Every field and every column, edited and sealed again: what is noticed, and what is not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hushway.families.sequences.fit.table import SequenceTable
from hushway.privacy.certificate import Certificate
from support.mutations import documented_as_free, fields_that_may_be_edited
from support.table_forgeries import columns_that_may_be_edited, documented_columns

Certify = Callable[..., Certificate]


@pytest.mark.long
def test_what_may_be_edited_is_documented(tree_release: Path, tmp_path: Path) -> None:
    assert fields_that_may_be_edited(tree_release, tmp_path) == documented_as_free("sequences")


@pytest.mark.long
def test_what_may_be_edited_in_the_files_is_documented(
    timed_tree: SequenceTable, certify_tree: Certify, tmp_path: Path
) -> None:
    found = columns_that_may_be_edited(timed_tree, certify_tree(timed_tree), tmp_path)
    assert found
    assert found <= documented_columns("sequences")

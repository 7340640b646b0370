"""Every field and every column, edited and sealed again: what is noticed, and what is not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hushway.families.links.fit.table import LinkTable
from hushway.privacy.certificate import Certificate
from support.mutations import documented_as_free, fields_that_may_be_edited
from support.table_forgeries import columns_that_may_be_edited, documented_columns

Certify = Callable[..., Certificate]


@pytest.mark.long
def test_what_may_be_edited_is_documented(fast_release: Path, tmp_path: Path) -> None:
    assert fields_that_may_be_edited(fast_release, tmp_path) == documented_as_free("links")


def test_what_may_be_edited_in_the_files_is_documented(
    fast_links: LinkTable, certify_links: Certify, tmp_path: Path
) -> None:
    found = columns_that_may_be_edited(fast_links, certify_links(fast_links), tmp_path)
    assert found
    assert found <= documented_columns("links")

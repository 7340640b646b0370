"""Every family's release, edited as a whole: what nobody notices is on the page about verify."""

from pathlib import Path

import pytest

from hushway.families.verify import verify
from hushway.release.folder.finding import Result
from support.coherent import COHERENT
from support.forging import forged_release
from support.little_plans import FAMILIES
from support.table_forgeries import (
    columns_that_may_be_edited,
    documented_columns,
    published_by_little_plan,
)


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_what_may_be_edited_in_a_little_release_is_documented(family: str, tmp_path: Path) -> None:
    table, certificate = published_by_little_plan(family, tmp_path)
    found = columns_that_may_be_edited(table, certificate, tmp_path)
    assert found <= documented_columns(family)
    for number, change in enumerate(COHERENT.values()):
        folder = tmp_path / f"coherent-{number}"
        forged_release(folder, table=table, certificate=change(certificate))
        assert verify(folder).result is Result.UNSIGNED

"""Places to write to that cannot be, found before any work is done."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hushway.cli.reproduce import reproduce
from hushway.errors import ReleaseError
from hushway.steward.demo import build_demo


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    (tmp_path / "file").touch()
    return tmp_path / "file" / "folder"


def test_a_demo_that_has_no_place_is_refused(nowhere: Path) -> None:
    with pytest.raises(ReleaseError, match="cannot be made") as caught:
        build_demo(nowhere)
    assert caught.value.advice


@pytest.mark.parametrize("study", ["cbdp", "density", "dp-ani", "prefix-tree"])
def test_a_study_that_has_no_place_is_refused_before_its_hours(study: str, nowhere: Path) -> None:
    asked = CliRunner().invoke(reproduce, [study, "--folder", str(nowhere)])
    assert isinstance(asked.exception, ReleaseError)
    assert "cannot be made" in str(asked.exception)

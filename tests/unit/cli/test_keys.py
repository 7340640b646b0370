"""Making keys by the command."""

from pathlib import Path

import pytest

from hushway.cli.releases import new
from hushway.errors import ReleaseError


@pytest.mark.parametrize("name", ["", "  ", ".", "keys/"])
def test_a_key_without_a_name_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ReleaseError, match="needs a name") as caught:
        new(name)
    assert caught.value.advice
    assert not list(tmp_path.iterdir())

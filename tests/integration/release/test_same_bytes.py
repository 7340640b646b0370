"""With a fixed seed releases stay what they were, byte for byte, however the code is arranged."""

import json
from pathlib import Path

import pytest

from support.same_bytes import PLANS, WRITTEN, digests_of


@pytest.mark.parametrize("name", PLANS)
def test_a_release_is_what_it_was(name: str, tmp_path: Path) -> None:
    assert digests_of(name, tmp_path) == json.loads(WRITTEN.read_text("utf-8"))[name]

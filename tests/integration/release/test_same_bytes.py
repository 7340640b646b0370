"""With a fixed seed releases stay what they were, byte for byte, however the code is arranged."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from support.same_bytes import PLANS, WRITER, WRITTEN, digests_of


@pytest.mark.parametrize("name", PLANS)
def test_a_release_is_what_it_was(name: str, tmp_path: Path) -> None:
    written = json.loads(WRITTEN.read_text("utf-8"))
    if written[WRITER] != pa.__version__:
        pytest.skip(f"digests are those of {WRITER} {written[WRITER]}")
    assert digests_of(name, tmp_path) == written[name]

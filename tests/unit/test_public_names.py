import subprocess
import sys

import pytest

import hushway


def test_the_public_names_are_sorted_and_all_there() -> None:
    assert list(hushway.__all__) == sorted(hushway.__all__)
    for name in hushway.__all__:
        assert getattr(hushway, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = hushway.nothing  # type: ignore[attr-defined]  # must fail


def test_the_command_line_starts_without_heavy_libraries() -> None:
    code = (
        "import sys; import hushway.cli.verbs; "
        "heavy = {'numpy', 'numba', 'duckdb', 'ibis', 'matplotlib', 'sqlalchemy', 'dp_accounting'}"
        "; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"

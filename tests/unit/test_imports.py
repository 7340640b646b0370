"""What is loaded when: a slip in a plan is told before any large library is read."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.little_plans import FAMILIES, little_plan, write_little_files
from support.long import often

HEAVY = {
    "dp_accounting",
    "duckdb",
    "ibis",
    "matplotlib",
    "numba",
    "osmium",
    "pyarrow.compute",
    "pyproj",
    "scipy",
    "shapely",
    "sqlalchemy",
}
REFUSED = """
import json, sys
from pathlib import Path
from hushway.errors import HushwayError
from hushway.families.load import plan_from, prepare
facts, folder = json.load(sys.stdin)
try:
    prepare(plan_from(facts, folder=Path(folder)), rows=True)
except HushwayError:
    print(json.dumps(sorted(sys.modules)))
"""


def loaded(code: str, question: object = None) -> set[str]:
    found = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(found.stdout))


def wrong_file(facts: dict[str, Any]) -> None:
    facts["release"]["signing_key"] = "gone.pem"


def wrong_column(facts: dict[str, Any]) -> None:
    facts["data"].setdefault("columns", {})["time"] = "when"


def wrong_name(facts: dict[str, Any]) -> None:
    facts["time"]["zone"] = "Mars/Base"


def wrong_number(facts: dict[str, Any]) -> None:
    facts["privacy"]["epsilon"] = "-1"


@pytest.mark.one_in(4)
@pytest.mark.parametrize("slip", [wrong_file, wrong_column, wrong_name, wrong_number])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_slip_in_a_plan_is_told_before_large_libraries_are_loaded(
    family: str, slip: Any, tmp_path: Path
) -> None:
    write_little_files(tmp_path)
    facts = little_plan(family)
    slip(facts)
    found = loaded(REFUSED, [facts, str(tmp_path)])
    assert found & HEAVY == set()
    assert f"hushway.families.{family}.plan" in found


@pytest.mark.parametrize("family", often(FAMILIES, first=2))
def test_only_the_release_type_in_use_is_loaded(family: str, tmp_path: Path) -> None:
    write_little_files(tmp_path)
    code = REFUSED.replace("except HushwayError:", "finally:")
    found = loaded(code, [little_plan(family), str(tmp_path)])
    assert f"hushway.families.{family}.job" in found
    # Of the others no more is read than what they are called.
    others = {name for name in found if name.startswith("hushway.families.")} - {
        f"hushway.families.{other}{part}" for other in FAMILIES for part in ("", ".family")
    }
    assert not {
        name for name in others for other in FAMILIES if other != family and f".{other}." in name
    }


def test_help_loads_neither_a_plan_nor_what_draws_on_the_screen() -> None:
    code = """
import json, sys
sys.argv = ["hushway", "--help"]
from hushway.cli.verbs import app
import io, contextlib
with contextlib.redirect_stdout(io.StringIO()):
    app(standalone_mode=False)
print(json.dumps(sorted(sys.modules)))
"""
    assert loaded(code) & {*HEAVY, "numpy", "pydantic", "pyarrow", "rich"} == set()


def test_a_workbench_that_waits_holds_no_large_library() -> None:
    code = "import json, sys, hushway.workbench.server; print(json.dumps(sorted(sys.modules)))"
    assert loaded(code) & {*HEAVY, "pyarrow"} == set()

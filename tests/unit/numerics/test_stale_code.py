"""Machine code must not outlive the functions that it calls, whatever file those are in."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import hushway

# A kernel and a limit in another file, both as small as can be: compiling takes most of the time.
BUDGET_LIMIT = """
from hushway.numerics.compiled import compiled

@compiled
def capped(value):
    return min(value, 2)
"""
KERNEL = """
from hushway.cap import capped
from hushway.numerics.compiled import compiled

@compiled
def kernel(value):
    return capped(value)
"""
RUN = """
from hushway.kernel import kernel

counted, stats = kernel(5), kernel.stats
print(counted, sum(stats.cache_hits.values()), stats.cache_path, sep=";")
"""
WITH_CAP = "min(value, 2)"
WITHOUT_CAP = "max(value, 2, 2)"  # of another length: Python itself compares length and seconds


@dataclass(frozen=True)
class Ran:
    """What a process printed: a count, whether its code was kept before, and is kept now."""

    counted: int
    found: bool
    kept: bool


class Copied:
    """A copy of the package that may be edited, with a kernel more and a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        package = folder / "source" / "hushway"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(hushway.__file__).parent, package, ignore=ignored)
        (package / "kernel.py").write_text(KERNEL)
        self.file = package / "cap.py"
        self.file.write_text(BUDGET_LIMIT)

    def edit(self, old: str, new: str) -> None:
        source = self.file.read_text()
        assert source.count(old) == 1
        self.file.write_text(source.replace(old, new))

    def run(self, code: str = RUN) -> Ran:
        own = {
            "PYTHONPATH": str(self.folder / "source"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
        }
        command = [sys.executable, "-c", code]
        done = subprocess.run(
            command, env=os.environ | own, capture_output=True, text=True, check=True
        )
        counted, hits, where = done.stdout.strip().split(";")
        return Ran(counted=int(counted), found=int(hits) > 0, kept=where != "None")


@pytest.fixture
def copied(tmp_path: Path) -> Copied:
    return Copied(tmp_path)


def test_an_edited_callee_runs_and_a_restored_one_as_well(copied: Copied) -> None:
    assert copied.run() == Ran(counted=2, found=False, kept=True)
    assert copied.run() == Ran(counted=2, found=True, kept=True)

    copied.edit(WITH_CAP, WITHOUT_CAP)
    assert copied.run() == Ran(counted=5, found=False, kept=True)

    copied.edit(WITHOUT_CAP, WITH_CAP)
    assert copied.run() == Ran(counted=2, found=True, kept=True)


def test_code_of_sources_that_change_under_a_process_is_not_kept(copied: Copied) -> None:
    def editing(old: str, new: str) -> str:
        return f"file.write_text(file.read_text().replace({old!r}, {new!r}))"

    meanwhile = f"""
from pathlib import Path
from hushway.numerics.compiled import code_folder

code_folder()
file = Path({str(copied.file)!r})
{editing(WITH_CAP, WITHOUT_CAP)}
import hushway.cap
{editing(WITHOUT_CAP, WITH_CAP)}
{RUN}"""
    # The sources are again what they were when the digest was taken; what ran was something else.
    assert copied.run(meanwhile) == Ran(counted=5, found=False, kept=False)
    assert copied.run() == Ran(counted=2, found=False, kept=True)

import logging
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from llvmlite import binding

from hushway.numerics import compiled as module
from hushway.numerics.compiled import MOST_OTHERS, UNUSED_S, compiled, digest_of_sources, sweep
from hushway.numerics.folders import hold_private

choose = module.code_folder.__wrapped__  # without the memory of this process


def double(value: int) -> int:
    return 2 * value


def no_temporary_folder() -> str:
    raise FileNotFoundError


def test_the_digest_knows_names_and_bytes_and_no_times(tmp_path: Path) -> None:
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    kernel = "from town.numerics.compiled import compiled\n"
    first.write_text(kernel + "a = 1\n")
    second.write_text("b = 2\n")
    before = digest_of_sources(tmp_path)

    os.utime(first, (0, 0))
    (tmp_path / "notes.md").write_text("read me\n")
    assert digest_of_sources(tmp_path) == before

    times = first.stat().st_atime_ns, first.stat().st_mtime_ns
    first.write_text(kernel + "a = 3\n")
    os.utime(first, ns=times)
    edited = digest_of_sources(tmp_path)
    assert edited != before

    first.rename(tmp_path / "other.py")
    assert digest_of_sources(tmp_path) not in {before, edited}


def test_the_folder_is_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = choose()
    assert folder == choose()
    assert folder.parent == tmp_path.resolve() / "hushway" / "compiled"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert choose() == tmp_path.resolve() / ".cache" / "hushway" / "compiled" / folder.name
    assert not caplog.records


@pytest.mark.parametrize("fact", ["numba.__version__", "llvmlite.__version__", "numpy.__version__"])
def test_another_version_has_another_folder(
    fact: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = choose()
    monkeypatch.setattr(fact, "0.0.0")
    assert choose() != before


def test_another_processor_has_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = choose()
    monkeypatch.setattr(binding, "get_host_cpu_name", lambda: "abacus")
    assert choose() != before


def test_without_a_home_code_is_kept_among_temporary_files_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    folder = choose()
    assert (
        folder.parent == tmp_path.resolve() / "temporary" / f"hushway-{os.geteuid()}" / "compiled"
    )
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "Not a directory" in caplog.text


def test_without_any_folder_functions_are_compiled_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "gettempdir", no_temporary_folder)
    assert choose() is None
    assert len(caplog.records) == 1
    assert "compiles anew" in caplog.text

    monkeypatch.setattr("hushway.numerics.compiled.code_folder", lambda: None)
    function: Any = compiled(double)
    assert function(2) == 4
    assert function.stats.cache_path is None


def test_a_folder_of_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(tempfile, "gettempdir", no_temporary_folder)
    theirs = choose()
    theirs.chmod(0o777)
    assert choose() is None
    assert "others may write to it" in caplog.text


def test_code_goes_nowhere_else_when_its_folder_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr("hushway.numerics.compiled.code_folder", lambda: tmp_path / "file")
    function: Any = compiled(double)
    assert function(2) == 4
    assert function.stats.cache_path is None


def test_sweeping_takes_what_is_old_and_free(tmp_path: Path) -> None:
    now = time.time()
    for name, age_s in {"used": UNUSED_S, "old": UNUSED_S, "held": UNUSED_S, "new": 0}.items():
        (tmp_path / name / "inside").mkdir(parents=True)
        os.utime(tmp_path / name, (now - age_s - 60, now - age_s - 60))
    handle = hold_private(tmp_path / "held")
    os.utime(tmp_path / "held", (0, 0))
    sweep(tmp_path, used="used")
    os.close(handle)
    assert {path.name for path in tmp_path.iterdir()} == {"used", "held", "new"}


def test_sweeping_leaves_the_last_ones(tmp_path: Path) -> None:
    now = time.time()
    for age_s in range(MOST_OTHERS + 3):
        (tmp_path / str(age_s)).mkdir()
        os.utime(tmp_path / str(age_s), (now - age_s, now - age_s))
    sweep(tmp_path, used="0")
    assert {path.name for path in tmp_path.iterdir()} == {str(i) for i in range(MOST_OTHERS + 1)}

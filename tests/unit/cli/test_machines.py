"""The command on machines that grant little: no home, read-only libraries, little recovery."""

import os
import shutil
import stat
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import hushway
from hushway.privacy.ledger import recovery
from hushway.privacy.ledger.schema import EntryRow
from support.little_plans import little_plan, write_little_files

# As root nothing is read-only. So root gives up the rights to pass over permissions; what is then
# started has no more rights than the owner of a file.
LAUNCH = """
import ctypes, os, sys
if os.geteuid() == 0:
    for right in (1, 2, 3):
        assert ctypes.CDLL(None).prctl(24, right, 0, 0, 0) == 0
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from hushway.cli.app import main; main()"
LIMITED = (
    "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (500_000_000,) * 2); "
    "from hushway.cli.app import main; main()"
)


# It compiles everything anew. So does `make release-check`, and it installs besides.
@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="rights are given up in the way of Linux")
def test_verbs_work_without_a_home_and_with_read_only_sources(tmp_path: Path) -> None:
    sources, home = tmp_path / "sources", tmp_path / "home"
    shutil.copytree(
        Path(hushway.__file__).parent,
        sources / "hushway",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    home.mkdir()
    (tmp_path / "tmp").mkdir(mode=0o700)
    folders = [home, sources, *(path for path in sources.rglob("*") if path.is_dir())]
    write_little_files(tmp_path)
    (tmp_path / "plan.toml").write_text(toml(), encoding="utf-8")
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("XDG_", "MPL", "NUMBA", "PYTHON"))
    }
    environment |= {"HOME": str(home), "TMPDIR": str(tmp_path / "tmp")}
    for folder in folders:
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        for words in (
            ("ledger", "open", "plan.toml", "--epsilon", "2"),
            ("check", "plan.toml"),
            ("publish", "--yes", "--anyway", "plan.toml"),
            ("verify", "release"),
        ):
            ended = subprocess.run(
                [sys.executable, "-c", LAUNCH, "-c", RUN, str(sources), *words],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert ended.returncode == 0, (words, ended.stderr)
            assert "Traceback" not in ended.stderr
    finally:
        for folder in folders:
            folder.chmod(stat.S_IRWXU)
    assert not list(home.iterdir())
    assert not list(sources.rglob("*.pyc"))


def toml() -> str:
    lines = ['release_type = "od"']
    for table, options in little_plan("od").items():
        if table == "release_type":
            continue
        lines.append(f"[{table}]")
        lines += [f"{name} = {written(value)}" for name, value in options.items()]
    return "\n".join(lines)


def written(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {written(each)}" for name, each in value.items()) + "}"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def test_little_address_space_is_one_clear_error() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LIMITED, "--help"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert "may use 500 MB of address space" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_what_was_seen_of_a_ledger_needs_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    # What Python answers if nobody knows the user.
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    entry = EntryRow(**{field.name: "" for field in fields(EntryRow)})
    recovery.remember([], [entry])
    assert recovery.recalled(entry) == {}

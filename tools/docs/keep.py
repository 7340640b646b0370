"""Runs a command and keeps what it found, for the figures in the pages.

python -m tools.docs.keep NAME -- COMMAND ...               # what it printed
python -m tools.docs.keep NAME --saved FILE -- COMMAND ...  # what it saved: text, or JSON beside it

Commands run from the root of the repository. Beside the result stand the command, the day, the
commit and the machine. Environment variables are no part of the command.
"""

import argparse
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from tools.docs.results import RESULTS

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PROGRESS = re.compile(r"it/s\]|s/it\]|[█━▏▎▍▌▋▊▉]")
# Wide enough for the widest table that a command prints.
_COLUMNS = "240"
_GIGABYTE = 2**30


def run(command: list[str]) -> str:
    """Returns what a command prints; what it complains about goes to the screen."""
    beside = str(Path(sys.executable).parent)
    environment = os.environ | {
        "PATH": f"{beside}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path("src").resolve()),
        "COLUMNS": _COLUMNS,
    }
    done = subprocess.run(  # noqa: S603
        command, check=True, stdout=subprocess.PIPE, env=environment
    )
    return done.stdout.decode()


def cleaned(text: str) -> str:
    """Returns a text without colours, progress and places of this machine."""
    text = _COLOURS.sub("", text)
    for place, word in (
        (str(Path.cwd()), "."),
        (tempfile.gettempdir(), "TEMPORARY"),
        (str(Path.home()), "HOME"),
    ):
        text = text.replace(f"{place}/", f"{word}/")
    # What was overwritten on its line was progress.
    lines = [line.rpartition("\r")[2].rstrip() for line in text.split("\n")]
    kept = "\n".join(line for line in lines if not _PROGRESS.search(line))
    return kept.strip("\n") + "\n"


def head(command: list[str]) -> str:
    """Returns how a result was made, one fact a line."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIGABYTE
    facts = {
        "command": shlex.join(command),
        "day": datetime.now(UTC).date().isoformat(),
        "commit": _commit(),
        "machine": f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GB of memory",
    }
    return "".join(f"# {name}: {fact}\n" for name, fact in facts.items())


def keep(name: str, command: list[str], *, saved: Path | None) -> None:
    """Runs a command and keeps what it printed, or what it saved.

    Args:
        name: What pages call the result.
        command: The command, word by word.
        saved: A file that it writes: JSON is kept beside what was printed, text instead of it.
    """
    # Before the run: it is this state that is measured.
    made = head(command)
    found = run(command)
    RESULTS.mkdir(exist_ok=True)
    if saved is not None:
        text = saved.read_text(encoding="utf-8")
        if saved.suffix == ".json":
            (RESULTS / f"{name}.json").write_text(text, encoding="utf-8")
        else:
            found = text
    (RESULTS / f"{name}.txt").write_text(f"{made}\n{cleaned(found)}", encoding="utf-8")


def _commit() -> str:
    def git(*words: str) -> str:
        return subprocess.run(  # noqa: S603
            ["git", *words],  # noqa: S607
            check=True,
            text=True,
            stdout=subprocess.PIPE,
        ).stdout.strip()

    changed = git("status", "--porcelain", "--", "src", "benchmarks")
    return git("rev-parse", "--short", "HEAD") + (", with changes" if changed else "")


if __name__ == "__main__":
    words = sys.argv[1:]
    divided = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--saved", type=Path)
    options = parser.parse_args(words[:divided])
    if divided + 1 >= len(words):
        parser.error("name the command after --")
    keep(options.name, words[divided + 1 :], saved=options.saved)

"""Counts what the house holds, and refuses more than `house.toml` allows: python -m tools.house.

A change that needs more room says so by raising the number there, in the same commit.
"""

import ast
import subprocess
import sys
import tomllib
from collections import Counter
from io import StringIO
from pathlib import Path

from pylint.checkers.symilar import Symilar

SOURCES = Path("src/hushway")
LIMITS = Path(__file__).with_name("house.toml")
# Fewer equal lines are a coincidence of style.
LINES = 6


def counts() -> dict[str, int]:
    """Returns the number of files and lines, lines by folder, and passages that stand twice."""
    sources = [path for path in _tracked("src") if path.suffix == ".py"]
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in sources}
    folders: Counter[str] = Counter()
    for path, count in lines.items():
        folders[_folder(path)] += count
    tests = sum(path.read_text(encoding="utf-8").count("\n") for path in _tracked("tests/*.py"))
    return {
        "files": len(sources),
        "lines": sum(lines.values()),
        "lines of tests": tests,
        "passages of six lines that stand twice": _repeated(sources),
        **{f"lines in {folder}": count for folder, count in sorted(folders.items())},
    }


def _tracked(pattern: str) -> list[Path]:
    """Returns files that are, or will be, part of the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", pattern]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    return [path for path in map(Path, listed.stdout.split()) if path.is_file()]


def _folder(path: Path) -> str:
    """Returns the part of the architecture that a source belongs to."""
    parts = path.relative_to(SOURCES).parts
    depth = 2 if parts[0] == "families" else 1
    return "/".join(parts[:depth] if len(parts) > depth else parts[: depth - 1]) or "."


def _repeated(sources: list[Path]) -> int:
    """Counts passages that stand in several files, apart from imports, docstrings and comments."""
    found = Symilar(min_lines=LINES, ignore_comments=True)
    for path in sources:
        found.append_stream(str(path), StringIO(_code(path.read_text(encoding="utf-8"))))
    return len(found._compute_sims())  # noqa: SLF001  the library's own command prints this list


def _code(source: str) -> str:
    """Returns a source without imports and docstrings. The library's own way takes minutes."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            end = node.end_lineno or node.lineno
            lines[node.lineno - 1 : end] = [""] * (end - node.lineno + 1)
    return "\n".join(lines)


def main() -> int:
    """Compares, and says what is too much; returns the exit code."""
    allowed = tomllib.loads(LIMITS.read_text(encoding="utf-8"))
    found = counts()
    if "--write" in sys.argv:
        rows = (f'"{name}" = {count}' for name, count in found.items())
        LIMITS.write_text("\n".join([*_comment(), *rows, ""]), encoding="utf-8")
        return 0
    wrong = [
        f"{name}: {count:,}, and {allowed.get(name, 0):,} are allowed"
        for name, count in found.items()
        if count > allowed.get(name, 0)
    ]
    if wrong:
        wrong.append("Make something simpler, or raise a number in tools/house.toml and say why.")
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    return 1 if wrong else 0


def _comment() -> list[str]:
    lines = LIMITS.read_text(encoding="utf-8").splitlines() if LIMITS.exists() else []
    return [line for line in lines if line.startswith("#")]


if __name__ == "__main__":
    sys.exit(main())

"""Tutorials: scripts that are run to pages, with what they print and the pictures they show.

A script is made of cells. One that begins with `# %% [markdown]` is text in comments; one that
begins with `# %%` is code. Whatever it prints comes below it. A picture that is given to `show`
comes there too.
"""

import contextlib
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPTS = Path("docs/tutorials")
_TEXT = "# %% [markdown]"
_CODE = "# %%"


@dataclass(frozen=True)
class Cell:
    """A part of a script: text, or code."""

    is_text: bool
    lines: tuple[str, ...]


def cells(script: str) -> Iterator[Cell]:
    """Yields the parts of a script in their order; what comes before the first is left out."""
    kind: bool | None = None
    lines: list[str] = []
    for line in [*script.splitlines(), _CODE]:
        if not line.startswith(_CODE):
            lines.append(line)
            continue
        if kind is not None:
            yield Cell(is_text=kind, lines=tuple("\n".join(lines).strip().splitlines()))
        kind, lines = line.strip() == _TEXT, []


def page_of(script: Path, pictures: Path) -> str:
    """Runs a script in a folder of its own and returns its page.

    Args:
        script: The script.
        pictures: Where the pictures that it shows are put.
    """
    parts: list[str] = []

    def show(picture: Path | str, caption: str) -> None:
        name = f"{script.stem}-{Path(picture).parent.name}-{Path(picture).name}"
        pictures.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, pictures / name)
        parts.append(f"![{caption}]({name})\n\n*{caption}*")

    names: dict[str, Any] = {"show": show, "__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for cell in cells(_text_of(script)):
            if cell.is_text:
                parts.append(
                    "\n".join(line.removeprefix("#").removeprefix(" ") for line in cell.lines)
                )
                continue
            code = "\n".join(cell.lines)
            parts.append(f"```python\n{code}\n```")
            shown = len(parts)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, script.name, "exec"), names)  # noqa: S102  it is our own page
            if printed.getvalue().strip():
                parts.insert(shown, f"```text\n{printed.getvalue().rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def _text_of(script: Path) -> str:
    return (_ROOT / script).read_text(encoding="utf-8")


_ROOT = Path.cwd()


def write_pages(folder: Path) -> list[Path]:
    """Runs every tutorial and writes its page into a folder; returns the pages."""
    os.environ.pop("HUSHWAY_LEDGER", None)
    target = folder.absolute()
    written = []
    for script in sorted(SCRIPTS.glob("*.py")):
        print(f"Running {script}", flush=True)  # noqa: T201
        page = target / f"{script.stem}.md"
        text = page_of(script, target)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
        written.append(page)
    return written


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))

"""Results that the pages quote, as commands gave them: `docs/results/NAME.txt` and `.json`.

The text begins with how it was made, one fact a line; after an empty line stands what the command
printed or saved. JSON beside it is what a benchmark saved.

Pages may name results that nobody has kept yet, or whose command nobody kept: these wait, and are
listed in `not_kept.toml`.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

RESULTS: Final = Path("docs/results")
NOT_KEPT: Final = Path("tools/docs/not_kept.toml")
_FACT = re.compile(r"# (command|day|commit|machine): (.+)")
_TITLE = re.compile(r"(?:#+ (?P<heading>.+)|\*\*(?P<bold>.+)\*\*)")


@dataclass(frozen=True, kw_only=True)
class Result:
    """One result.

    Attributes:
        name: What pages call it.
        made: How it was made: command, day, commit, machine; empty if nobody kept that.
        text: What the command printed or saved, JSON included.
    """

    name: str
    made: dict[str, str]
    text: str

    def table(self, title: str) -> str:
        """Returns the Markdown table below a title of the text.

        Raises:
            KeyError: There is no such table.
        """
        lines = self.text.splitlines()
        for place, line in enumerate(lines):
            found = _TITLE.fullmatch(line.strip())
            if found and title in {found["heading"], found["bold"]}:
                below = lines[place + 1 :]
                begin = next(
                    (i for i, each in enumerate(below) if each.startswith("|")), len(below)
                )
                if any(_TITLE.fullmatch(each.strip()) for each in below[:begin]):
                    continue
                rows = below[begin:]
                end = next((i for i, row in enumerate(rows) if not row.startswith("|")), len(rows))
                return "".join(f"{row}\n" for row in rows[:end])
        raise KeyError(f"{self.name} has no table {title!r}")


def read_result(name: str) -> Result:
    """Returns a result that is kept.

    Raises:
        FileNotFoundError: Nothing is kept under this name.
    """
    made: dict[str, str] = {}
    texts = []
    text_file, json_file = (RESULTS / f"{name}.{ending}" for ending in ("txt", "json"))
    if text_file.is_file():
        head, _, body = text_file.read_text(encoding="utf-8").partition("\n\n")
        made = {found[1]: found[2] for found in map(_FACT.fullmatch, head.splitlines()) if found}
        texts.append(body)
    if json_file.is_file():
        texts.append(json_file.read_text(encoding="utf-8"))
    if not texts:
        raise FileNotFoundError(f"{RESULTS}/{name}.txt is not there: python -m tools.docs.keep")
    return Result(name=name, made=made, text="\n".join(texts))


def waiting() -> dict[str, str]:
    """Returns results that are not kept yet, each with the reason."""
    listed = tomllib.loads(NOT_KEPT.read_text(encoding="utf-8"))
    return {str(name): str(reason) for name, reason in listed.get("results", {}).items()}


def names_command(page: str, command: str) -> bool:
    """Says whether a page names a command as `code`, whole, however its lines are broken."""
    return f"{' '.join(command.split())}`" in " ".join(page.split())

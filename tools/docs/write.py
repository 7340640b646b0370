"""Writes the pages that follow from code and kept results, or says which are out of date.

python -m tools.docs.write            # writes them
python -m tools.docs.write --check    # exit code 1 if one differs, or quotes what no result says
"""

import sys
from pathlib import Path

from tools.docs.certificates import certificate_page
from tools.docs.commands import commands_page
from tools.docs.figures import pages_with_figures, unnamed_commands
from tools.docs.measured import problems
from tools.docs.not_kept import list_problems
from tools.docs.pages import checked_pages
from tools.docs.plans import plan_pages
from tools.docs.python import python_page

REFERENCE = Path("docs/reference")


def pages() -> dict[Path, str]:
    """Returns every page that follows from the code or from kept results, by its place."""
    named = {
        **plan_pages(),
        "commands.md": commands_page(),
        "python.md": python_page(),
        "certificate.md": certificate_page(),
    }
    return {REFERENCE / name: text for name, text in named.items()} | pages_with_figures()


def stale(found: dict[Path, str]) -> list[Path]:
    """Returns the pages that are not there or say something else."""
    return [
        path
        for path, text in found.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


def wrong_figures() -> list[str]:
    """Returns which figures in the pages no result stands behind, one sentence each."""
    found = []
    for path in checked_pages():
        text = path.read_text(encoding="utf-8")
        found += [f"{path}: {sentence}" for sentence in (*problems(text), *unnamed_commands(text))]
    return [*found, *list_problems()]


def main(arguments: list[str]) -> int:
    """Writes or checks; returns the exit code."""
    found = pages()
    if "--check" in arguments:
        out_of_date = stale(found)
        for path in out_of_date:
            print(f"{path} does not follow from code and results: make docs-write")  # noqa: T201
        wrong = wrong_figures()
        for sentence in wrong:
            print(sentence)  # noqa: T201
        return 1 if out_of_date or wrong else 0
    for path, text in found.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

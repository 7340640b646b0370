"""Verifies a release in a process of its own, which may take so much memory and no more.

Run by `hushway.cli.releases`: the question comes on standard input, the answer goes to standard
output, both as JSON.
"""

import contextlib
import json
import resource
import sys
from pathlib import Path
from typing import Any

from hushway.errors import HushwayError


def main() -> None:
    """Answers one question."""
    question = json.load(sys.stdin)
    # What a process writes to, not what it has only set aside: libraries set aside a lot.
    resource.setrlimit(resource.RLIMIT_DATA, (question["memory"], question["memory"]))
    try:
        answer = _answer(question)
    except HushwayError as problem:
        answer = {"problem": str(problem), "advice": problem.advice}
    json.dump(answer, sys.stdout)


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    from hushway.cli.screen import connect
    from hushway.families.verify import verify
    from hushway.privacy.signing import load_public_key

    key, ledger = question["key"], question["ledger"]
    public = None if key is None else load_public_key(Path(key))
    with contextlib.ExitStack() as stack:
        book = None if ledger is None else stack.enter_context(connect(ledger))
        found = verify(Path(question["folder"]), key=public, ledger=book)
    return {
        "result": found.result,
        "passed": found.passed,
        "checks": [vars(check) for check in found.checks],
    }


if __name__ == "__main__":
    main()

"""Verifies a release in a process of its own, which may take so much memory and no more.

Asked by `hushway.cli.releases`.
"""

import contextlib
from pathlib import Path
from typing import Any

from hushway.release.untrusted.confined import answer_confined
from hushway.release.untrusted.landlock import allow_only


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    key, ledger = question["key"], question["ledger"]
    if ledger is None:
        # Before libraries start threads. A ledger would be opened here too, and may be anywhere.
        allow_only(reads=[Path(question["folder"]), *([] if key is None else [Path(key)])])
    from hushway.cli.screen import connect
    from hushway.facts.verification import verification_facts
    from hushway.families.verify import verify
    from hushway.privacy.signing import load_public_key

    public = None if key is None else load_public_key(Path(key))
    with contextlib.ExitStack() as stack:
        book = None if ledger is None else stack.enter_context(connect(ledger))
        found = verify(Path(question["folder"]), key=public, ledger=book)
    return verification_facts(found)


if __name__ == "__main__":
    answer_confined(_answer)

"""Verification of a stranger's release in a process with limits of time and memory.

The module is both sides: `verify_confined` starts it as a process, which answers.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

from hushway.release.untrusted.confined import (
    FITTING,
    OutOfLimitsError,
    answer_confined,
    ask_confined,
)
from hushway.release.untrusted.landlock import allow_only

_ADVICE = "To verify it all the same, without limits, use hushway.verify in Python."


def verify_confined(
    release: Path,
    *,
    key: Path | None,
    ledger: str | None,
    refit: bool = False,
    series: Path | None = None,
) -> dict[str, Any]:
    """Verifies a release in another process, within limits of time and memory.

    Args:
        release: The release folder.
        key: The file of the publisher's public key.
        ledger: The publisher's ledger, or the plan that names it.
        refit: Whether to fit it again from its noisy answers, within wider limits.
        series: The folder that holds the releases that it learnt from, for that.

    Returns:
        What `verification_facts` tells; failed if the limits did not suffice.

    Raises:
        HushwayError: There is no release, key or ledger to be read.
    """
    from hushway.steward.facts import failed_facts

    names = {"folder": str(release), "key": None if key is None else str(key), "ledger": ledger}
    # A ledger may need a password; nothing else needs the environment.
    environment = None if ledger is None else os.environ
    limits = FITTING if refit else None
    with tempfile.TemporaryDirectory() as desk:
        others = None if series is None else str(series)
        question = {**names, "desk": desk, "refit": refit, "series": others}
        try:
            return ask_confined(__name__, question, environment=environment, limits=limits)
        except OutOfLimitsError as problem:
            return failed_facts("limits", f"{problem} {_ADVICE}")


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    release, key, ledger = question["folder"], question["key"], question["ledger"]
    series = question["series"]
    tempfile.tempdir = question["desk"]
    if ledger is None:
        # Before libraries start threads. A ledger would be opened here too, and may be anywhere.
        allow_only(
            reads=[Path(release), *(Path(also) for also in (key, series) if also is not None)],
            writes=[Path(question["desk"])] if question["refit"] else (),
        )
    from hushway.steward.facts import verification_facts
    from hushway.steward.verify import verify

    refit = question["refit"]
    return verification_facts(verify(release, key=key, ledger=ledger, refit=refit, series=series))


if __name__ == "__main__":
    answer_confined(_answer)

"""Reads untrusted folders in a subprocess with limits on time and memory.

Limits of files and tables keep readers of releases small; this covers what they miss. Shapes, for
example, can make libraries take hours over a few kilobytes, and no signal stops them. The question
goes to the standard input of a module, and the answer comes from its standard output, as JSON.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from hushway.errors import HushwayError, ReleaseError


class Limits(NamedTuple):
    """How long a question may take, and how much memory."""

    seconds: int
    memory: int


READING: Final = Limits(60, 2 << 30)
# To fit a release again takes as much as its publisher took.
FITTING: Final = Limits(1800, 8 << 30)

# Every thread sets memory aside, and large machines would start a hundred of them.
_THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "2")
_MEMORY = "memory"
# What Python needs to run at all; above all nothing that names a ledger, an engine or a password.
_NEEDED = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ")


class OutOfLimitsError(ReleaseError):
    """An answer took more time or memory than it may."""


def bare_environment() -> dict[str, str]:
    """Returns the environment without anything that is the user's own."""
    return {name: os.environ[name] for name in _NEEDED if name in os.environ}


def ask_confined(
    module: str,
    question: Mapping[str, Any],
    *,
    environment: Mapping[str, str] | None = None,
    limits: Limits | None = None,
) -> dict[str, Any]:
    """Returns what a module answers within limits of time and memory.

    Args:
        module: Whose `main` calls `answer_confined`.
        environment: What it is told of the environment, if not as little as possible.
        limits: How much it may take; `READING` if left out.
    """
    seconds, memory = limits or READING
    try:
        done = subprocess.run(  # noqa: S603  a module of our own
            # -P: a module in the folder where somebody stands must not be taken for one of ours.
            [sys.executable, "-P", "-m", module],
            input=json.dumps({**question, _MEMORY: memory}).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
            env={**(environment or bare_environment()), **_THREADS},
        )
    except subprocess.TimeoutExpired:
        raise OutOfLimitsError(
            f"It takes longer than {seconds} seconds, and was stopped."
        ) from None
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise OutOfLimitsError(
            f"It ended without an answer, or needs more memory than {memory >> 30} GB."
        ) from None
    if "problem" in answer:
        raise HushwayError(answer["problem"], advice=answer["advice"])
    return answer


def answer_confined(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answers the one question that this process was started for."""
    question = json.load(sys.stdin)
    memory = question.pop(_MEMORY)
    # What a process writes to, not what it has only set aside: libraries set aside a lot.
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    try:
        found = answer(question)
    except HushwayError as problem:
        found = {"problem": str(problem), "advice": problem.advice}
    json.dump(found, sys.stdout)

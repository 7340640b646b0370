"""Rehearsals in the background: machine code is made while rows are read, on other processors."""

import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING

from hushway.families.registry import FAMILIES, family_named
from hushway.numerics.threads import processors
from hushway.progress import Progress, quiet

if TYPE_CHECKING:
    from hushway.release.plans.sections import AnyPlan

Rehearsal = tuple[str, str]


def usual_rehearsals(release_types: Iterable[str] = ()) -> list[Rehearsal]:
    """Returns the usual mechanism of each release type.

    Args:
        release_types: Which; all, if none is named.

    Raises:
        PlanError: There is no such release type.
    """
    # The last ones take longest to compile: where two are made at once, they begin early.
    asked = tuple(release_types) or tuple(reversed(FAMILIES))
    return [(name, each) for name in asked for each in _mechanisms(name)[:1]]


def _mechanisms(release_type: str) -> list[str]:
    """Returns the mechanisms of a release type, the usual one first."""
    return list(family_named(release_type).mechanisms)


def rehearsal_of(plan: "AnyPlan") -> list[Rehearsal]:
    """Returns the rehearsal of a plan's release type and mechanism; none if there is no such."""
    mechanisms = _mechanisms(plan.release_type)
    chosen = getattr(getattr(plan, "mechanism", None), "name", None)
    known = [name for name in mechanisms if name == chosen] or mechanisms[:1]
    return [(plan.release_type, name) for name in known]


class Compiling(AbstractContextManager["Compiling"]):
    """Machine code that is being made by other processes, as many at once as there are processors.

    What it does not make is made when it is first called, as always: whatever becomes of these
    processes changes how long a release takes, and nothing else. Those that still run in the end
    are stopped.
    """

    def __init__(self, rehearsals: Iterable[Rehearsal]) -> None:
        self._pool = ThreadPoolExecutor(max_workers=processors())
        self._running: set[subprocess.Popen[bytes]] = set()
        self._awaited: list[Future[None]] = []
        self._stopped = False
        for each in rehearsals:
            # Somebody around may have begun it: the demo begins with all, its releases with one.
            if each not in _BEGUN and not is_done(*each):
                _BEGUN[each] = self._pool.submit(self._rehearse, each)
            if each in _BEGUN:
                self._awaited.append(_BEGUN[each])

    def _rehearse(self, rehearsal: Rehearsal) -> None:
        if self._stopped:
            return
        process = subprocess.Popen(  # noqa: S603  our own module, and names from a list of ours
            command(*rehearsal),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._running.add(process)
        if self._stopped:  # while it was being started
            process.terminate()
        process.wait()
        self._running.discard(process)

    def wait(self, progress: Progress = quiet) -> None:
        """Waits until all is made; nothing is spent meanwhile."""
        for future in self._awaited:
            if not future.done():
                left = sum(not each.done() for each in self._awaited)
                progress(f"Compiling, at the first use only ({left} to go)")
                future.result()

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._stopped = True
        for process in tuple(self._running):
            process.terminate()
        self._pool.shutdown()
        # Begun here, and over now.
        for each in [each for each, future in _BEGUN.items() if future.done()]:
            del _BEGUN[each]


_BEGUN: dict[Rehearsal, Future[None]] = {}


def command(release_type: str, mechanism: str) -> list[str]:
    """Returns the command that rehearses."""
    # -P: a module in the folder where somebody stands is not one of ours.
    return [sys.executable, "-P", "-m", "hushway.warming.rehearse", release_type, mechanism]


def is_done(release_type: str, mechanism: str) -> bool:
    """Whether the machine code is kept already, or could be kept nowhere."""
    from hushway.warming.rehearse import marker

    done = marker(release_type, mechanism)
    return done is None or done.exists()

"""How many runs audits take. Nothing is computed here: the command's help must not wait for it."""

from typing import Final

USUAL_RUNS: Final = 100_000
# Enough to find what loses twice as much as is claimed, in a tenth of the time.
QUICK_RUNS: Final = 10_000
# Below it even an audit of little effort, and a law that holds for many runs, says nothing.
FEWEST_RUNS: Final = 1_000
# What `bounds.runs_needed` finds for the claims of every suite, 1 and 4.
NEEDED_RUNS: Final = 68_282


def runs_asked(runs: int | None, *, quick: bool) -> int:
    """Returns a number of runs that was given, or the usual one if none was."""
    if runs is not None:
        return runs
    return QUICK_RUNS if quick else USUAL_RUNS

"""What a reader should know beside the tables of the reproduction of the paper on densities."""

import numpy as np

from hushway.families.density.study.methods import DEFAULT, HONEST, PRINTED, SLOW
from hushway.families.density.study.numbers import Reproduction
from hushway.families.density.study.published import EPSILON, MAX_VISITS
from hushway.families.density.study.reproduce import FEW_RUNS, KEYS


def mean_of(
    found: Reproduction,
    method: str,
    figure: str,
    *,
    epsilon: str = EPSILON,
    visits: int = MAX_VISITS,
) -> float:
    """Returns the mean of a figure over runs."""
    return found.of(method, epsilon, visits, figure).interval.mean


def statements(found: Reproduction) -> list[str]:
    """Returns the claims that the numbers bear out, or do not."""
    ours = found.of(DEFAULT, EPSILON, MAX_VISITS, "mre")
    best = min(PRINTED, key=lambda name: mean_of(found, name, "mre"))
    mean = ours.interval.mean
    closest = mean_of(found, best, "mre")
    first = (
        f"At the claimed budget the default (MRE {mean:.3f}) {_does(closest > mean, 'beats')} "
        f"every printed variant (best: {best}, {closest:.3f})."
    )
    lines = [first]
    for name in HONEST:
        as_printed = name.removesuffix(", honest")
        honest, printed = mean_of(found, name, "mre"), mean_of(found, as_printed, "mre")
        lines.append(
            f"{as_printed} with a claim that holds {_is(honest > printed)} worse than as printed "
            f"(MRE {honest:.3f} against {printed:.3f}), and {_is(honest > mean)} worse than the "
            "default."
        )
    coverage = mean_of(found, DEFAULT, "coverage")
    lines.append(f"{coverage:.1%} of the true counts lie within 1.96 published standard errors.")
    for name, errors in found.keys.items():
        noise = found.of(name, EPSILON, MAX_VISITS, "mre").deviation
        lines.append(
            f"{name}: drawing other visits of the same people moves the MRE by "
            f"{np.std(errors, ddof=1):.4f} (standard deviation over {KEYS} draws, noise the same); "
            f"other noise with the same visits by {noise:.4f}. Visits were drawn once for all runs."
        )
    lines.append(
        f"Earth mover's distances are means over all hours of {min(found.runs, FEW_RUNS)} runs; "
        f"so many runs are behind {', '.join(repr(name) for name in SLOW)} as well."
    )
    return lines


def _is(holds: bool) -> str:
    return "is" if holds else "is not"


def _does(holds: bool, verb: str) -> str:
    return verb if holds else f"does not {verb.removesuffix('s')}"

"""How often the errors of published prefixes hold, and how many prefixes nobody made.

For every scene of `sequence_scenes.py`: of the prefixes that a learnt release calls sure, the share
whose true number lies within 1.96 standard errors, by published size, and the share that no record
has. The truth is the bounded and cut records. Run by hand:
`python benchmarks/sequence_intervals.py [runs] [scenes] [epsilons]`, with commas between scenes.
"""

import sys
from fractions import Fraction

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.files.learnt import begun_with
from hushway.families.sequences.fit.table import RecordTable
from hushway.families.sequences.rows.record_bounding import Records
from sequence_judges import EPSILONS, learned_table
from sequence_scenes import SCENES, JudgedScene

SIZES = ((1, 6), (6, 21), (21, 101), (101, 1 << 40))


def true_counts(table: RecordTable, records: Records) -> IntArray:
    """Returns how many records begin with each published prefix."""
    each = np.ones(len(records), dtype=np.int64)
    return begun_with(table, records.start, records.stops.astype(np.int64), each)


def held(scene: JudgedScene, epsilon: Fraction, runs: int) -> tuple[FloatArray, FloatArray]:
    """Returns hits and numbers of prefixes by size; the last entry is those that nobody made."""
    hits, numbers = np.zeros(len(SIZES) + 1), np.zeros(len(SIZES) + 1)
    for run in range(runs):
        table = learned_table(scene, epsilon, run)
        true = true_counts(table, scene.bounded)
        inside = np.abs(table.prefix_counts - true) <= 1.96 * table.prefix_errors
        for at, (low, high) in enumerate(SIZES):
            size = (table.prefix_counts >= low) & (table.prefix_counts < high)
            hits[at] += inside[size].sum()
            numbers[at] += size.sum()
        hits[-1] += (true == 0).sum()
        numbers[-1] += len(true)
    return hits, numbers


def main(runs: int, scenes: list[str], epsilons: list[str]) -> None:
    heads = " | ".join(f"{low}-{high - 1}" if high < 1 << 40 else f"{low}+" for low, high in SIZES)
    print(f"| scene | ε | {heads} | all | prefixes | made by nobody |\n|---|---|{'---|' * 7}")
    for name in scenes:
        scene = SCENES[name]()
        if scene is None:
            continue
        for epsilon in epsilons:
            hits, numbers = held(scene, Fraction(epsilon), runs)
            parts = [
                f"{hit / number:.1%} of {number / runs:,.0f}" if number else "none"
                for hit, number in zip(hits[:-1], numbers[:-1], strict=True)
            ]
            every = hits[:-1].sum() / max(numbers[:-1].sum(), 1)
            false = hits[-1] / max(numbers[-1], 1)
            words = f"{every:.1%} | {numbers[-1] / runs:,.0f} | {false:.1%}"
            print(f"| {name} | {epsilon} | {' | '.join(parts)} | {words} |", flush=True)


if __name__ == "__main__":
    given = sys.argv[1:]
    main(
        int(given[0]) if given else 3,
        given[1].split(",") if len(given) > 1 else list(SCENES),
        given[2].split(",") if len(given) > 2 else list(EPSILONS),
    )

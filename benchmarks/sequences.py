"""How long a release of sequences takes, beside sorting the raw sequences lexicographically.

A release is all from bounded records to the table: exact noise, fit, whole counts. Learnt records
have h = 12, the default, the prefix tree h = 20. Their opponent is numpy sorting the same sequences
as byte strings of one width, the fastest way that numpy knows. Both are timed in seconds of
processors, threads added up, so that other work on the machine does not count. Ten times Metro runs
in a process of its own, so that its peak memory is its own.
"""

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from hushway.families.sequences.city.cards import bus, metro
from hushway.families.sequences.mechanism.learned import LearnedSequences, learned_spends
from hushway.families.sequences.mechanism.tree import prefix_tree
from hushway.families.sequences.study.data import SequenceScene, card_scene, grow
from hushway.privacy.loss import PureLoss
from hushway.privacy.randomness import os_source

HEIGHT, TREE_HEIGHT = 12, 20
RUNS = 5
SEED = 2012


def median_seconds(work: Callable[[], object]) -> float:
    work()
    seconds = []
    for _ in range(RUNS):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds)


def byte_strings(scene: SequenceScene) -> np.ndarray:
    """Returns the whole sequences as byte strings of one width, in which order is kept."""
    length = np.diff(scene.start)
    wide = np.dtype(">u2" if len(scene.taxonomy.locations) > 254 else "u1")
    padded = np.zeros((len(length), int(length.max())), dtype=wide)
    row = np.repeat(np.arange(len(length)), length)
    column = np.arange(len(scene.stops)) - np.repeat(scene.start[:-1], length)
    padded[row, column] = scene.stops + 1
    return padded.view(f"S{padded.shape[1] * wide.itemsize}").ravel()


def learned(scene: SequenceScene) -> None:
    spends = learned_spends(PureLoss(Fraction(1)))
    mechanism = LearnedSequences(universe=scene.hybrid, height=HEIGHT, spends=spends)
    grow(scene, mechanism, os_source())


def tree(scene: SequenceScene) -> None:
    mechanism = prefix_tree(scene.hybrid, budget=PureLoss(Fraction(1)), height=TREE_HEIGHT)
    grow(scene, mechanism, os_source())


def compare(name: str, scene: SequenceScene) -> dict[str, float]:
    strings = byte_strings(scene)
    sorting = median_seconds(lambda: np.sort(strings))
    figures = {f"{name}_sort_seconds": sorting}
    for words, release in (("learned", learned), ("tree", tree)):
        ours = median_seconds(lambda release=release: release(scene))
        half = scene.sample((len(scene.start) - 1) // 2)
        figures |= {
            f"{name}_{words}_seconds": ours,
            f"{name}_{words}_ratio_to_sort": ours / sorting,
            f"{name}_{words}_ratio_to_half_the_data": ours
            / median_seconds(lambda release=release, half=half: release(half)),
        }
    return figures


def ten_times() -> dict[str, float]:
    """Publishes ten times Metro."""
    scene = card_scene(metro(SEED, scale=10))
    start = time.process_time()
    learned(scene)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    unit = 1 if sys.platform == "darwin" else 1024
    return {"metro_x10_seconds": seconds, "metro_x10_peak_gb": peak * unit / 1e9}


def main() -> dict[str, float]:
    """Measures, prints a table and returns the numbers."""
    figures = compare("metro", card_scene(metro(SEED)))
    figures |= compare("bus", card_scene(bus(SEED)))
    command = [sys.executable, __file__, "--ten-times"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures |= json.loads(done.stdout)
    bars = {
        "metro_learned_ratio_to_sort": "at most 5",
        "bus_learned_ratio_to_sort": "at most 5",
        "metro_tree_ratio_to_sort": "at most 5",
        "bus_tree_ratio_to_sort": "at most 5",
        "metro_x10_peak_gb": "at most 4, the making of the city included",
    }
    print(f"{'figure':<40} {'measured':>12}  bar")
    for name, value in figures.items():
        print(f"{name:<40} {value:>12,.3f}  {bars.get(name, '')}")
    return figures


if __name__ == "__main__":
    if "--ten-times" in sys.argv:
        print(json.dumps(ten_times()))
    else:
        main()

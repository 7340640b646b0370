"""How long a release of sequences takes, beside sorting the raw sequences lexicographically.

A release is all from bounded records to the table: exact noise, fit, whole counts. Learnt records
have h = 12, the default, the prefix tree h = 20. Their opponent is numpy sorting the same sequences
as byte strings of one width, the fastest way that numpy knows. Both are timed in seconds of
processors, threads added up, so that other work on the machine does not count. Ten times Metro runs
in a process of its own, so that its peak memory is its own.
"""

import time
from fractions import Fraction
from functools import partial

import numpy as np

from harness import in_process, measured, print_figures, serve_job, warm_seconds
from hushway.families.sequences.city.cards import bus, metro
from hushway.families.sequences.mechanism.learned import LearnedSequences, learned_spends
from hushway.families.sequences.mechanism.tree import prefix_tree
from hushway.families.sequences.study.data import SequenceScene, card_scene, grow
from hushway.privacy.loss import PureLoss
from hushway.privacy.randomness import os_source

HEIGHT, TREE_HEIGHT = 12, 20
RUNS = 5
SEED = 2012

processor_seconds = partial(warm_seconds, runs=RUNS, clock=time.process_time)


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
    sorting = processor_seconds(lambda: np.sort(strings))
    figures = {f"{name}_sort_seconds": sorting}
    for words, release in (("learned", learned), ("tree", tree)):
        ours = processor_seconds(lambda release=release: release(scene))
        half = scene.sample((len(scene.start) - 1) // 2)
        figures |= {
            f"{name}_{words}_seconds": ours,
            f"{name}_{words}_ratio_to_sort": ours / sorting,
            f"{name}_{words}_ratio_to_half_the_data": ours
            / processor_seconds(lambda release=release, half=half: release(half)),
        }
    return figures


def ten_times() -> dict[str, float]:
    """Publishes ten times Metro."""
    scene = card_scene(metro(SEED, scale=10))
    found = measured(lambda: learned(scene))
    return {"metro_x10_seconds": found["cpu_s"], "metro_x10_peak_gb": found["peak_gb"]}


def main() -> dict[str, float]:
    """Measures, prints a table and returns the numbers."""
    figures = compare("metro", card_scene(metro(SEED)))
    figures |= compare("bus", card_scene(bus(SEED)))
    figures |= in_process(__file__)
    bars = {
        "metro_learned_ratio_to_sort": "at most 5",
        "bus_learned_ratio_to_sort": "at most 5",
        "metro_tree_ratio_to_sort": "at most 5",
        "bus_tree_ratio_to_sort": "at most 5",
        "metro_x10_peak_gb": "at most 4, the making of the city included",
    }
    print_figures(figures, bars, ",.3f")
    return figures


if __name__ == "__main__":
    serve_job(ten_times)
    main()

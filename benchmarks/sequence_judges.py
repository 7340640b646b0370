"""Published sequences before all judges of print, beside peers.

Every release has the same budget and protects one record, or a person of whom at most eight records
count. "Without noise" is no release: it shows what bounding and cutting cost by themselves, and no
release can be expected to do better. Less is better but for F1; `sequence_measures.py` says what
each judge measures. Cards and traces are synthetic; pages and check-ins are left out unless
HUSHWAY_DATA names a folder that holds them, and AdaTrace unless HUSHWAY_ADATRACE names its classes.
Run by hand:
`python benchmarks/sequence_judges.py [runs] [scenes] [epsilons]`, with commas between scenes.
"""

import statistics
import time
from fractions import Fraction

import numpy as np

from harness import RESULTS, keep, positional
from hushway.families.sequences.fit.table import RecordTable
from hushway.families.sequences.mechanism.learned import LearnedSequences, learned_spends
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.study.data import WeightedSequences, distinct
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget
from sequence_measures import JUDGES, Truth, judge
from sequence_peers import PEERS, Release
from sequence_scenes import SCENES, JudgedScene

EPSILONS = ("0.1", "1", "4")


def learned_table(scene: JudgedScene, epsilon: Fraction, seed: int) -> RecordTable:
    """Returns the product's default: records that agree with noisy answers about everything."""
    universe = SequenceUniverse(taxonomy=scene.taxonomy)
    mechanism = LearnedSequences(
        universe=universe, height=scene.height, spends=learned_spends(PureLoss(epsilon))
    )
    curator = Curator(counter=scene.counter, budget=StudyBudget(), source=SeededSource(seed))
    return mechanism.fit(mechanism.measure(curator, universe), universe)


def learned(scene: JudgedScene, epsilon: Fraction, seed: int) -> WeightedSequences:
    """Returns its records."""
    table = learned_table(scene, epsilon, seed)
    return WeightedSequences(start=table.start, stops=table.stops, weights=table.counts)


def without_noise(scene: JudgedScene, epsilon: Fraction, seed: int) -> WeightedSequences:
    """Returns the bounded and cut records themselves: no release, but what noise alone adds to."""
    del epsilon, seed
    records = scene.bounded
    return distinct(records.start, records.stops.astype(np.int64))


_NO_RELEASE = "without noise"
RELEASES: dict[str, Release] = {_NO_RELEASE: without_noise, "learned": learned, **PEERS}


def judged(truth: Truth, release: Release, epsilon: Fraction, runs: int) -> dict[str, float] | None:
    """Returns means over runs of all judges and of the seconds; None without a release."""
    found = []
    for run in range(runs):
        start = time.perf_counter()
        released = release(truth.scene, epsilon, run)
        seconds = time.perf_counter() - start
        if released is None:
            return None
        found.append({"seconds": seconds, **judge(truth, released)})
    return {name: statistics.mean(one[name] for one in found) for name in found[0]}


def as_markdown(rows: list[dict[str, object]]) -> str:
    """Returns a table for every scene and budget, with the best of each judge in bold."""
    lines: list[str] = []
    for scene, epsilon in dict.fromkeys((row["scene"], row["epsilon"]) for row in rows):
        here = [row for row in rows if (row["scene"], row["epsilon"]) == (scene, epsilon)]
        names = [name for name in JUDGES if name in here[0]]
        lines += [f"**{scene}, ε = {epsilon}**", "", f"| | {' | '.join(names)} |"]
        lines.append(f"| --- |{' ---: |' * len(names)}")
        for row in here:
            values = (_marked(row, here, name) for name in names)
            lines.append(f"| {row['release']} | {' | '.join(values)} |")
        lines.append("")
    return "\n".join(lines)


def _marked(row: dict[str, object], here: list[dict[str, object]], name: str) -> str:
    releases = [each for each in here if each["release"] != _NO_RELEASE]
    best = (max if name == "patterns F1" else min)(float(str(each[name])) for each in releases)
    text = f"{row[name]:.3f}"
    return f"**{text}**" if row in releases and row[name] == best else text


def main(
    runs: int = 1, scenes: tuple[str, ...] = tuple(SCENES), epsilons: tuple[str, ...] = EPSILONS
) -> list[dict[str, object]]:
    """Prints a table for every scene and budget, and returns all rows."""
    rows: list[dict[str, object]] = []
    for name in scenes:
        scene = SCENES[name]()
        if scene is None:
            print(f"\n{name}: HUSHWAY_DATA names no folder that holds them.")
            continue
        truth = Truth(scene)
        judges = [each for each in JUDGES if scene.has_positions or each != "diameters"]
        for epsilon in epsilons:
            print(f"\n{name}, epsilon {epsilon} ({runs} runs)")
            print(f"{'':<16} {'seconds':>8} {' '.join(f'{each:>18}' for each in judges)}")
            for words, release in RELEASES.items():
                mean = judged(truth, release, Fraction(epsilon), runs)
                if mean is None:
                    print(f"{words:<16} does not take part", flush=True)
                    continue
                rows.append({"scene": name, "epsilon": epsilon, "release": words, **mean})
                values = " ".join(f"{mean[each]:>18.4f}" for each in judges)
                print(f"{words:<16} {mean['seconds']:>8.1f} {values}", flush=True)
    return rows


if __name__ == "__main__":
    runs, scenes, epsilons = positional("1", ",".join(SCENES), ",".join(EPSILONS))
    results = main(int(runs), tuple(scenes.split(",")), tuple(epsilons.split(",")))
    keep("sequence_judges", results)
    (RESULTS / "sequence_judges.md").write_text(as_markdown(results), encoding="utf-8")

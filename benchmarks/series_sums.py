"""Sums over steps and changes between them: how often intervals hold in a city that stays the same.

The same rows are published several times, each time with new noise, as if nobody changed their
ways: then what a fit gets wrong about a place it gets wrong every time, and every change that is
found is false. For sums over all steps it is told how often 95% intervals hold if errors of steps
are added up, as `hushway ask` does, and if they were independent; for changes between neighbouring
steps how often they hold, and how many are told to be more than noise.
Run: `python benchmarks/series_sums.py [types] [seed] [steps] [folder]`. A city or release that the
folder has is not made again.
"""

import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise, product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import hushway
from asked_sums import PLANNED, RANDOM, TRUTHS, random_where
from harness import keep, positional
from hushway.arrays import FloatArray
from hushway.families.load import load_plan, prepare
from hushway.families.series import pair_of
from hushway.progress import quiet
from hushway.release.forecast.true_errors import exact_context
from hushway.release.questions.answers import total
from hushway.release.questions.cells import AskedCells, Where
from hushway.release.questions.steps import changes, error_of_change, error_of_sum
from hushway.steward.demo import build_city

DEVIATIONS = 1.96


def published(
    name: str, seed: int, steps: int, folder: Path
) -> tuple[list[AskedCells], list[FloatArray]]:
    """Publishes a city of a release type several times; returns the numbers and the truth."""
    import_module(f"hushway.families.{name}.family").SEED = seed  # type: ignore[attr-defined]
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not folder.exists():
        build_city(name, folder)
    text = (folder / "plan.toml").read_text(encoding="utf-8")
    job = prepare(load_plan(folder / "plan.toml"))
    delta = None if job.plan.privacy.delta is None else "1e-6"
    found, truths = [], []
    for step in range(steps):
        plan, release = folder / f"plan-{step}.toml", folder / f"rel-{step}"
        if not release.exists():
            own = text.replace('url = "ledger.db"', f'url = "ledger-{step}.db"')
            plan.write_text(own.replace('folder = "release"', f'folder = "rel-{step}"'), "utf-8")
            hushway.ledger.open(plan, epsilon="1000", delta=delta)
            hushway.publish(plan, anyway=True)
        found.append(hushway.open(release).cells)
        truths.append(TRUTHS[name](release, job, exact_context(job, quiet), found[-1]))
    return found, truths


def questions(cells: AskedCells) -> Iterator[tuple[str, Where]]:
    """Yields what is asked of every step."""
    rng = np.random.default_rng(39)
    yield "everything", {}
    for name, dimension in cells.dimensions.items():
        labels = [label for label in dimension.ids if label]
        for label in rng.permutation(labels)[:PLANNED].tolist():
            yield f"one of {name}", {name: label}
    for _ in range(RANDOM):
        yield "random sums", random_where(cells, rng)


def listed(cells: AskedCells, where: Where) -> bool:
    """Whether a release lists all that is asked for: sequences and links that show differ."""
    named = {name: [one] if isinstance(one, str) else one for name, one in where.items()}
    return all(set(labels) <= set(cells.dimensions[name].ids) for name, labels in named.items())


def asked(found: list[AskedCells], truths: list[FloatArray]) -> dict[str, FloatArray]:
    """Returns by kind of question whether sums and changes hold: as added up, as independent."""
    held: dict[str, list[list[float]]] = {}
    for kind, where in questions(found[0]):
        if not all(listed(cells, where) for cells in found):
            continue
        answers = [total(cells, where) for cells in found]
        off = [
            answer.value - truth[cells.chosen(where)].sum()
            for answer, cells, truth in zip(answers, found, truths, strict=True)
        ]
        errors = [answer.standard_error for answer in answers]
        sums = [
            abs(sum(off)) <= DEVIATIONS * error_of_sum(errors, independent=independent)
            for independent in (False, True)
        ]
        kept = [
            abs(off[b] - off[a]) <= DEVIATIONS * error_of_change(errors[a], errors[b], learnt=False)
            for a, b in pairwise(range(len(off)))
        ]
        held.setdefault(kind, []).append([*map(float, sums), float(np.mean(kept))])
    return {kind: np.array(rows) for kind, rows in held.items()}


def false_changes(found: list[AskedCells]) -> tuple[int, int]:
    """Returns how many changes of single labels are told, and of how many; none is real."""
    told = compared = 0
    for name, (earlier, later) in product(found[0].dimensions, pairwise(enumerate(found))):
        asked = {str(step): cells for step, cells in (earlier, later)}
        pair = pair_of(str(earlier[0]), str(later[0]), asked, {}, name)
        told += len([*changes([pair])])
        compared += len(pair.both)
    return told, compared


def main() -> None:
    """Publishes each type several times, and asks for sums and changes."""
    types, seed, steps, folder = positional(",".join(TRUTHS), "37", "6", "")
    results: dict[str, dict[str, list[float]]] = {}
    print(f"**Cities of seed {seed}, {steps} steps**\n")
    print("| type | questions | number | sums hold | if independent | changes hold |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    false = {}
    with TemporaryDirectory() as scratch:
        for name in types.split(","):
            found, truths = published(
                name, int(seed), int(steps), Path(folder or scratch) / seed / name
            )
            results[name] = {}
            for kind, rows in asked(found, truths).items():
                shares = [float(share) for share in rows.mean(axis=0)]
                results[name][kind] = [len(rows), *shares]
                told = " | ".join(f"{share:.3f}" for share in shares)
                print(f"| {name} | {kind} | {len(rows):,} | {told} |")
            false[name] = false_changes(found)
            sys.stdout.flush()
    print("\n**False changes**\n")
    print("| type | told | compared |")
    print("| --- | ---: | ---: |")
    for name, (wrong, compared) in false.items():
        print(f"| {name} | {wrong:,} | {compared:,} |")
    keep("series-sums", {"sums": results, "false": false})


if __name__ == "__main__":
    main()

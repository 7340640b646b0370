"""Answers of `hushway ask`: how often their intervals hold the truth, on the cities of the demo.

For every release type and kind of question: how often the interval of 95% holds what the exact rows
say, and the root mean square of errors by what the answer says of them. Planned questions are about
one label, one of each dimension, and everything; random ones about labels drawn at random, alone,
as differences and as ratios. Run: `python benchmarks/asked_sums.py [types] [seeds] [folder]`.
Answers of one release go wrong together, so several cities are asked: one for each seed. Shares of
errors that go together were chosen on the demo's seed, 2018, and are tried on others. A city or
release that the folder has is not made again.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import hushway
from harness import keep, positional
from hushway.arrays import FloatArray
from hushway.families.density.planning.evaluation import every_visit
from hushway.families.links.planning.evaluation import everybody
from hushway.families.links.public.universe import ClassZones
from hushway.families.load import load_plan, prepare
from hushway.families.od.planning.evaluation import every_trip
from hushway.families.sequences.planning.evaluation import every_record, exact_prefixes
from hushway.families.sequences.planning.evaluation import read_published as read_prefixes
from hushway.progress import quiet
from hushway.release.forecast.true_errors import exact_context
from hushway.release.job import CountingContext
from hushway.release.questions.answers import Answer, difference, largest, ratio, total
from hushway.release.questions.cells import AskedCells
from hushway.steward.demo import build_city

RANDOM = 60
PLANNED = 60
TOP = 10

Truth = Callable[[Path, Any, CountingContext, AskedCells], FloatArray]


def od_truth(_: Path, job: Any, context: CountingContext, cells: AskedCells) -> FloatArray:
    """Returns the trips of every cell."""
    exact = every_trip(job.rows, job.geography, context)
    at = [cells.dimensions[name].position for name in ("periods", "origins", "destinations")]
    wanted = job.geography.encode(*at)
    place = np.minimum(np.searchsorted(exact.cells, wanted), len(exact.cells) - 1)
    return np.where(exact.cells[place] == wanted, exact.values[place], 0).astype(np.float64)


def density_truth(_: Path, job: Any, context: CountingContext, __: AskedCells) -> FloatArray:
    """Returns the visits of every (area, period)."""
    return every_visit(job.rows, job.geography, context).reshape(-1)


def links_truth(_: Path, job: Any, context: CountingContext, cells: AskedCells) -> FloatArray:
    """Returns the travellers on every link, and on all of a kind that do not show."""
    universe = job.geography
    exact = everybody(job.rows, universe, context)
    link, period = (cells.dimensions[name].position for name in ("links", "periods"))
    names = {name: at for at, name in enumerate(universe.roads.link_id.tolist())}
    own = np.array([names.get(name, -1) for name in cells.dimensions["links"].ids])[link]
    shown = own >= 0
    group, used = ClassZones(universe=universe).links
    hidden = np.zeros((len(used), len(universe.periods)))
    np.add.at(hidden, group, exact)
    np.subtract.at(hidden, (group[own[shown]], period[shown]), exact[own[shown], period[shown]])
    found = np.empty(len(link))
    found[shown] = exact[own[shown], period[shown]]
    found[~shown] = hidden.T.reshape(-1)
    return found


def sequences_truth(
    folder: Path, job: Any, context: CountingContext, cells: AskedCells
) -> FloatArray:
    """Returns the records that begin with every prefix of one or two stops."""
    published = read_prefixes(folder, job.geography)
    exact = exact_prefixes(published, job.geography, every_record(job.rows, context))
    none = len(cells.dimensions["first"].ids)
    true = {
        (int(place[0]), int(place[1]) if length > 1 else none): value
        for place, length, value in zip(published.place, published.length, exact, strict=True)
        if length <= 2
    }
    at = (cells.dimensions[name].position.tolist() for name in ("first", "second"))
    return np.array([true[stops] for stops in zip(*at, strict=True)])


TRUTHS: Mapping[str, Truth] = {
    "od": od_truth,
    "density": density_truth,
    "links": links_truth,
    "sequences": sequences_truth,
}


def random_where(cells: AskedCells, rng: np.random.Generator) -> dict[str, list[str]]:
    """Returns labels at random: one, some or all of each dimension."""
    found = {}
    for name, dimension in cells.dimensions.items():
        labels = [label for label in dimension.ids if label]
        some = int(min(len(labels), rng.choice([1, 3, 10, 30, len(labels)])))
        if some < len(labels):
            found[name] = [labels[i] for i in rng.choice(len(labels), some, replace=False)]
    return found


def answers(cells: AskedCells, truth: FloatArray) -> Iterator[tuple[str, Answer, float]]:
    """Yields answers of every kind of question, with the truth."""
    rng = np.random.default_rng(37)

    def true(where: Mapping[str, Any]) -> float:
        return float(truth[cells.chosen(where)].sum())

    yield "everything", total(cells, {}), true({})
    for name, dimension in cells.dimensions.items():
        labels = [label for label in dimension.ids if label]
        for label in rng.permutation(labels)[:PLANNED].tolist():
            yield f"one of {name}", total(cells, {name: label}), true({name: label})
        ids = {answer_label(cells, name, i): i for i in range(len(dimension.ids))}
        for found in largest(cells, {}, by=name, top=TOP):
            where = {name: dimension.ids[ids[found.label]]}
            yield f"{TOP} largest {name}", found, true(where)
    names = list(cells.dimensions)[:2]
    pairs = list(product(*(cells.dimensions[name].ids for name in names)))
    for i in rng.choice(len(pairs), min(PLANNED, len(pairs)), replace=False):
        where = dict(zip(names, pairs[i], strict=True))
        yield f"one of {' and of '.join(names)}", total(cells, where), true(where)
    for _ in range(RANDOM):
        one, other = random_where(cells, rng), random_where(cells, rng)
        yield "random sums", total(cells, one), true(one)
        yield "random differences", difference(cells, one, other), true(one) - true(other)
        if cells.counts[cells.chosen(other)].sum() > 0 and true(other) > 0:
            yield "random ratios", ratio(cells, one, other), true(one) / true(other)


def answer_label(cells: AskedCells, by: str, position: int) -> str:
    """Returns what `largest` calls a label."""
    dimension = cells.dimensions[by]
    key = dimension.ids[position]
    name = dimension.names[0][position] if dimension.names else key
    return key if name in ("", key) else f"{name} ({key})"


def main() -> None:
    """Publishes and asks releases of each type."""
    types, seeds, folder = positional(",".join(TRUTHS), "37", "")
    with TemporaryDirectory() as scratch:
        results = {}
        print(f"**Cities of seeds {seeds}**\n")
        print("| type | questions | number | hold | least of a city | errors / said |")
        print("| --- | --- | ---: | ---: | ---: | ---: |")
        for name in types.split(","):
            cities = [
                asked(name, int(seed), Path(folder or scratch) / seed / name)
                for seed in seeds.split(",")
            ]
            results[name] = summary(name, cities)
            sys.stdout.flush()
    keep("asked-sums", results)


# By kind of question, of each answer: whether it holds, and its error by what it says of it.
Found = dict[str, list[tuple[bool, float]]]


def asked(name: str, seed: int, folder: Path) -> Found:
    """Publishes a release of a type, and asks it."""
    # Where each release type makes its city from.
    import_module(f"hushway.families.{name}.family").SEED = seed  # type: ignore[attr-defined]
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not folder.exists():
        build_city(name, folder)
    plan = folder / "plan.toml"
    job = prepare(load_plan(plan))
    release = job.plan.path(job.plan.release.folder)
    if not release.exists():
        hushway.publish(plan)
    cells = hushway.open(release).cells
    truth = TRUTHS[name](release, job, exact_context(job, quiet), cells)
    np.savez(folder / "truth.npz", truth=truth, counts=cells.counts)
    found: Found = {}
    for kind, answer, true in answers(cells, truth):
        # Ratios say no standard error.
        off = (answer.value - true) / answer.standard_error if answer.standard_error else 0.0
        found.setdefault(kind, []).append((answer.low <= true <= answer.high, off))
    return found


def summary(name: str, cities: list[Found]) -> dict[str, list[float]]:
    """Prints how often answers about several cities hold, and in the city with the fewest."""
    rows = {}
    for kind in cities[0]:
        each = [np.array(city[kind], dtype=float) for city in cities]
        hold, off = np.concatenate(each).T
        least = min(float(city[:, 0].mean()) for city in each)
        rows[kind] = [len(hold), float(hold.mean()), least, float(np.sqrt(np.mean(off**2)))]
        said = "" if np.isnan(off).any() else f"{rows[kind][3]:.2f}"
        print(f"| {name} | {kind} | {len(hold):,} | {hold.mean():.3f} | {least:.3f} | {said} |")
    return rows


if __name__ == "__main__":
    main()

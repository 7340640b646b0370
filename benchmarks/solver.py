"""How fast the projection is, beside general solvers of quadratic programmes and beside the noise.

Every opponent runs in a process of its own, with limits on time and memory, once with one variable
per cell and element (natural) and once with another one per group (group), which is kinder to it.
Only its own set-up and solution are timed. Nothing is asserted: the bars stand beside the
measurements. `excess` is an opponent's objective less ours, after its table was made non-negative;
`dx` is the largest difference of a cell.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import nnls

from harness import print_figures, timed
from hushway.families.od.fit.partitions import Partition
from hushway.families.od.fit.projection.dense_cells import DenseCells
from hushway.families.od.fit.projection.problem import Margin
from hushway.families.od.fit.projection.project import project
from hushway.families.od.fit.reconciliation.reconcile import WeightedSums, project_crossing

SECONDS = 40
GIGABYTES = 12
RUNS = 7
# An opponent that took longer than this is not tried on the next larger instance.
WORTH_MORE = {"S": 4.0, "M": 15.0}
INSTANCES = {"S": (4, 130, 4_878), "M": (48, 130, 37_714), "L": (48, 263, 150_000)}
OPPONENTS = ("piqp", "clarabel", "osqp", "highs")
FORMS = ("natural", "group")
# A table with a cell off by more than one trip is no solution, whatever its solver says.
SOLVED = 1.0
ZONES, MODES = 4, 12


@dataclass(frozen=True, kw_only=True)
class Instance:
    """Noisy cells, noisy margins, and the group of every cell."""

    cells: DenseCells
    margins: list[Margin]

    @property
    def groups(self) -> np.ndarray:
        """The group of every cell."""
        cells = self.cells
        grid = cells.period_class[:, None] * cells.pair_classes + cells.pair_class[None, :]
        return grid.ravel()

    def objective(self, x: np.ndarray) -> float:
        """Returns what a table costs."""
        total = 0.5 * np.sum((x - self.cells.values) ** 2)
        totals = np.bincount(self.groups, x, len(self.cells.sizes))
        for margin in self.margins:
            fitted = np.bincount(margin.element, totals, len(margin.counts))
            total += margin.weight / 2 * np.sum((fitted - margin.counts) ** 2)
        return float(total)


def paper(periods: int, places: int, trips: int, epsilon: float = 1.0, seed: int = 1) -> Instance:
    """The five features of the CBDP paper over sparse synthetic trips, weights 1 / n."""
    rng = np.random.default_rng(seed)
    pairs = places * places
    size = periods * pairs
    zone = rng.integers(0, ZONES, places)
    zone_pair = (zone[:, None] * ZONES + zone[None, :]).ravel()
    mode = rng.integers(0, MODES, pairs)
    likely = rng.dirichlet(np.full(places, 0.3))
    where = rng.choice(pairs, trips, p=np.outer(likely, rng.permutation(likely)).ravel())
    when = rng.choice(periods, trips, p=rng.dirichlet(np.full(periods, 2.0)))
    truth = np.bincount(when * pairs + where, minlength=size)

    def noise(count: int) -> np.ndarray:
        return np.rint(rng.laplace(0, 5 / epsilon, count)).astype(np.int64)

    classes = ZONES * ZONES * MODES
    period, label = np.divmod(np.arange(periods * classes), classes)
    groups = (np.arange(periods)[:, None] * classes + (zone_pair * MODES + mode)[None, :]).ravel()
    totals = np.bincount(groups, truth, periods * classes)
    margins = []
    for element, count in (
        (0 * period, 1),
        (period, periods),
        (period * ZONES * ZONES + label // MODES, periods * ZONES * ZONES),
        (period * MODES + label % MODES, periods * MODES),
    ):
        exact = np.bincount(element, totals, count).astype(np.int64)
        margins.append(Margin(element=element, counts=exact + noise(count), weight=size / count))
    cells = DenseCells(
        values=truth + noise(size),
        pair_class=(zone_pair * MODES + mode).astype(np.int32),
        pair_classes=classes,
        period_class=np.arange(periods, dtype=np.int32),
        period_classes=periods,
    )
    return Instance(cells=cells, margins=margins)


def crossing(places: int = 130, periods: int = 48, trips: int = 37_714) -> Instance:
    """Origin by period, destination by period, pair over the day, period, total: all flat."""
    rng = np.random.default_rng(1)
    pairs = places * places
    size = pairs * periods
    likely = rng.dirichlet(np.full(places, 0.3))
    where = rng.choice(pairs, trips, p=np.outer(likely, rng.permutation(likely)).ravel())
    when = rng.choice(periods, trips, p=rng.dirichlet(np.full(periods, 2.0)))
    truth = np.bincount(when * pairs + where, minlength=size)
    cell = np.arange(size)
    period, pair = np.divmod(cell, pairs)
    margins = []
    for element, count in (
        (period * places + pair // places, periods * places),
        (period * places + pair % places, periods * places),
        (pair, pairs),
        (period, periods),
        (0 * cell, 1),
    ):
        noise = np.rint(rng.laplace(0, 6, count)).astype(np.int64)
        counts = np.bincount(element, truth, count).astype(np.int64) + noise
        margins.append(Margin(element=element, counts=counts, weight=size / count))
    cells = DenseCells(
        values=truth + np.rint(rng.laplace(0, 6, size)).astype(np.int64),
        pair_class=cell.astype(np.int32),
        pair_classes=size,
        period_class=np.zeros(1, dtype=np.int32),
        period_classes=1,
    )
    return Instance(cells=cells, margins=margins)


@dataclass(frozen=True, kw_only=True)
class Ends:
    """Noisy cells by period and pair, and noisy counts of origins and destinations by period."""

    values: np.ndarray
    sums: list[WeightedSums]

    def pass_of_numpy(self) -> None:
        """Adds up the cells over every origin and destination, which any fit must do."""
        places = self.sums[0].partition.classes
        cube = self.values.reshape(len(self.values), places, places)
        cube.sum(axis=1), cube.sum(axis=2)

    def ours(self) -> np.ndarray:
        """Returns our table."""
        return project_crossing(self.values, self.sums, tolerance=1e-9).values

    def by_scipy(self) -> np.ndarray:
        """Non-negative least squares with one row for every cell and sum."""
        periods, pairs = self.values.shape
        period, pair = np.divmod(np.arange(self.values.size), pairs)
        rows, right = [sp.eye(self.values.size)], [self.values.ravel()]
        for each in self.sums:
            element = each.partition.period_class[period] * each.partition.classes
            element = element + each.partition.pair_class[pair]
            inside = sp.csr_matrix((np.ones(len(pair)), (element, np.arange(len(pair)))))
            rows.append(np.sqrt(each.weight) * inside)
            right.append(np.sqrt(each.weight) * each.counts)
        found, _ = nnls(sp.vstack(rows).toarray(), np.concatenate(right))
        return found.reshape(periods, pairs)

    def objective(self, x: np.ndarray) -> float:
        """Returns what a table costs."""
        missed = (each.partition.sums(x) - each.counts for each in self.sums)
        off = zip(self.sums, missed, strict=True)
        return float(
            0.5 * np.sum((x - self.values) ** 2)
            + sum(each.weight / 2 * np.sum(miss**2) for each, miss in off)
        )


def ends(places: int, periods: int, epsilon: float = 1.0, seed: int = 1) -> Ends:
    """Crowded and empty places, negative binomial counts, Laplace noise, weights 1 / n."""
    rng = np.random.default_rng(seed)
    from_, to = (part.ravel().astype(np.int32) for part in np.indices((places, places)))
    likely = rng.gamma(0.5, 1, (2, periods, places))
    mean = likely[0][:, from_] * likely[1][:, to]
    mean *= 0.16 / mean.mean()
    truth = rng.negative_binomial(0.5, 0.5 / (0.5 + mean))

    def noise(shape: Any) -> np.ndarray:
        return np.rint(rng.laplace(0, 3 / epsilon, shape)).astype(np.int64)

    partitions = [
        Partition(
            period_class=np.arange(periods, dtype=np.int32),
            pair_class=place,
            periods=periods,
            classes=places,
        )
        for place in (from_, to)
    ]
    sums = [
        WeightedSums(
            partition=each,
            counts=np.rint(each.sums(truth.astype(np.float64))).astype(np.int64) + noise(each.size),
            weight=float(places),
        )
        for each in partitions
    ]
    return Ends(values=truth + noise(truth.shape), sums=sums)


def crossing_ends() -> dict[str, float]:
    """Measures origins and destinations by period, beside a pass of numpy and beside scipy."""
    figures: dict[str, float] = {}
    small = ends(20, 4)
    table = small.ours()
    theirs = small.by_scipy()
    scipy_seconds = median_seconds(small.by_scipy, 3)
    figures["ends_1.6k_scipy_seconds"] = scipy_seconds
    figures["ends_1.6k_scipy_over_ours"] = scipy_seconds / median_seconds(small.ours)
    figures["ends_1.6k_scipy_excess"] = small.objective(theirs) - small.objective(table)
    for name, shape in (("2.9M", (350, 24)), ("3.0M_wide", (653, 7))):
        for epsilon in (1.0, 0.1):
            large = ends(*shape, epsilon=epsilon)
            seconds = median_seconds(large.ours, 3)
            beside = median_seconds(large.pass_of_numpy, 3)
            at = "" if epsilon == 1.0 else f"_at_{epsilon}"
            figures[f"ends_{name}{at}_seconds"] = seconds
            figures[f"ends_{name}{at}_passes_of_numpy"] = seconds / beside
    return figures


def median_seconds(run: Callable[[], Any], runs: int = RUNS) -> float:
    return timed(run, runs)[0]


@dataclass(frozen=True, kw_only=True)
class Programme:
    """Minimise half x'diag(p)x + q'x where A x = 0 and the first cells are not negative."""

    curvature: np.ndarray
    linear: np.ndarray
    equalities: sp.csc_matrix
    cells: int


def programme(instance: Instance, form: str) -> Programme:
    """Writes an instance with one variable per element, and perhaps one per group."""
    groups, margins = instance.groups, instance.margins
    cells, count = len(groups), len(instance.cells.sizes)
    elements = sum(len(margin.counts) for margin in margins)
    of_group = sp.csr_matrix((np.ones(cells), (groups, np.arange(cells))), shape=(count, cells))
    of_element = sp.vstack(
        [
            sp.csr_matrix(
                (np.ones(count), (margin.element, np.arange(count))),
                shape=(len(margin.counts), count),
            )
            for margin in margins
        ]
    )
    if form == "group":
        extra = count
        rows = sp.bmat([[of_group, -sp.eye(count), None], [None, of_element, -sp.eye(elements)]])
    else:
        extra = 0
        rows = sp.hstack([of_element @ of_group, -sp.eye(elements)])
    weights = np.concatenate([np.full(len(m.counts), m.weight) for m in margins])
    counts = np.concatenate([m.counts for m in margins])
    return Programme(
        curvature=np.concatenate([np.ones(cells), np.zeros(extra), weights]),
        linear=-np.concatenate([instance.cells.values, np.zeros(extra), weights * counts]),
        equalities=sp.csc_matrix(rows),
        cells=cells,
    )


def by_piqp(problem: Programme) -> np.ndarray:
    import piqp

    size = len(problem.linear)
    low = np.full(size, -np.inf)
    low[: problem.cells] = 0
    solver = piqp.SparseSolver()
    rows = problem.equalities
    curvature = sp.csc_matrix(sp.diags(problem.curvature))
    nothing = sp.csc_matrix((0, size))
    none = np.zeros(0)
    solver.setup(
        curvature,
        problem.linear,
        rows,
        np.zeros(rows.shape[0]),
        nothing,
        none,
        none,
        low,
        np.full(size, np.inf),
    )
    solver.solve()
    return np.array(solver.result.x)


def by_clarabel(problem: Programme) -> np.ndarray:
    import clarabel

    size = len(problem.linear)
    signs = sp.eye(problem.cells, size)
    rows = sp.csc_matrix(sp.vstack([problem.equalities, -signs]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sp.csc_matrix(sp.diags(problem.curvature)),
        problem.linear,
        rows,
        np.zeros(rows.shape[0]),
        [clarabel.ZeroConeT(problem.equalities.shape[0]), clarabel.NonnegativeConeT(problem.cells)],
        settings,
    )
    return np.array(solver.solve().x)


def by_osqp(problem: Programme) -> np.ndarray:
    import osqp

    size = len(problem.linear)
    rows = sp.csc_matrix(sp.vstack([problem.equalities, sp.eye(problem.cells, size)]))
    high = np.concatenate([np.zeros(problem.equalities.shape[0]), np.full(problem.cells, np.inf)])
    solver = osqp.OSQP()
    solver.setup(
        sp.csc_matrix(sp.diags(problem.curvature)),
        problem.linear,
        rows,
        np.zeros(rows.shape[0]),
        high,
        verbose=False,
    )
    return np.array(solver.solve(raise_error=False).x)


def by_highs(problem: Programme) -> np.ndarray:
    import highspy

    size = len(problem.linear)
    rows = problem.equalities
    model = highspy.HighsModel()
    model.lp_.num_col_, model.lp_.num_row_ = size, rows.shape[0]
    model.lp_.col_cost_ = problem.linear
    low = np.full(size, -highspy.kHighsInf)
    low[: problem.cells] = 0
    model.lp_.col_lower_, model.lp_.col_upper_ = low, np.full(size, highspy.kHighsInf)
    model.lp_.row_lower_ = model.lp_.row_upper_ = np.zeros(rows.shape[0])
    model.lp_.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.lp_.a_matrix_.start_ = rows.indptr
    model.lp_.a_matrix_.index_ = rows.indices
    model.lp_.a_matrix_.value_ = rows.data
    model.hessian_.dim_ = size
    model.hessian_.format_ = highspy.HessianFormat.kTriangular
    model.hessian_.start_ = np.arange(size + 1)
    model.hessian_.index_ = np.arange(size)
    model.hessian_.value_ = problem.curvature
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]  # the library has no types here
    solver.setOptionValue("output_flag", False)
    solver.passModel(model)
    solver.run()
    return np.array(solver.getSolution().col_value)


SOLVERS = {"piqp": by_piqp, "clarabel": by_clarabel, "osqp": by_osqp, "highs": by_highs}


def oppose(name: str, form: str, size: str) -> dict[str, float]:
    """Runs one opponent in this process."""
    instance = paper(*INSTANCES[size])
    ours = project(instance.cells, instance.margins)
    x = np.zeros(len(instance.cells.values))
    x[ours.cells] = ours.values
    problem = programme(instance, form)
    # Set after our own compilation, which needs address space of its own.
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
    seconds, found = timed(lambda: SOLVERS[name](problem))
    theirs = np.maximum(0.0, found[: problem.cells])
    return {
        "seconds": seconds,
        "excess": instance.objective(theirs) - instance.objective(x),
        "dx": float(np.max(np.abs(theirs - x))),
    }


def in_its_own_process(name: str, form: str, size: str) -> dict[str, float] | str:
    """Returns what one opponent did, or in a word why it did nothing."""
    command = [sys.executable, __file__, name, form, size]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=SECONDS + 10
        )
    except subprocess.TimeoutExpired:
        return f"over {SECONDS} s"
    if done.returncode != 0:
        return "failed" if done.returncode > 0 else f"killed by signal {-done.returncode}"
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found if np.isfinite(found["dx"]) else "failed"


def tournament(figures: dict[str, float]) -> None:
    """Runs all opponents on all instances that they can be expected to finish."""
    given_up: set[tuple[str, str]] = set()
    print(f"{'solver':<18} {'instance':<9} {'seconds':>9} {'times ours':>11} {'excess':>10} dx")
    for size in INSTANCES:
        ours = figures[f"ours_{size}_seconds"]
        fastest = np.inf
        for name in OPPONENTS:
            for form in FORMS:
                line = f"{name + ' ' + form:<18} {size:<9} "
                if (name, form) in given_up:
                    print(f"{line} skipped: too slow on the smaller instance", flush=True)
                    continue
                found = in_its_own_process(name, form, size)
                if isinstance(found, str):
                    print(f"{line} {found}", flush=True)
                    given_up.add((name, form))
                    continue
                seconds = found["seconds"]
                solved = found["dx"] <= SOLVED
                fastest = min(fastest, seconds) if solved else fastest
                if seconds > WORTH_MORE.get(size, SECONDS):
                    given_up.add((name, form))
                figures |= {f"{name}_{form}_{size}_{key}": value for key, value in found.items()}
                print(
                    f"{line}{seconds:>9.3f} {seconds / ours:>11,.0f} "
                    f"{found['excess']:>10.1e} {found['dx']:.1e}{'' if solved else ' not solved'}",
                    flush=True,
                )
        if np.isfinite(fastest):
            figures[f"fastest_{size}_over_ours"] = fastest / ours


def ours_alone() -> dict[str, float]:
    """Measures ours on every instance, and beside drawing the noise once."""
    figures: dict[str, float] = {}
    start = time.perf_counter()
    first = paper(*INSTANCES["S"])
    project(first.cells, first.margins)
    figures["first_call_seconds"] = time.perf_counter() - start
    for epsilon in (1.0, 0.1, 0.01):
        for size, shape in INSTANCES.items():
            instance = paper(*shape, epsilon=epsilon)
            name = f"ours_{size}" if epsilon == 1.0 else f"ours_{size}_at_{epsilon}"
            figures[f"{name}_seconds"] = median_seconds(lambda one=instance: _ours(one))
    figures |= beside_the_noise()
    flat = crossing()
    figures["ours_crossing_seconds"] = median_seconds(lambda: _ours(flat), 1)
    return figures | crossing_ends()


def beside_the_noise() -> dict[str, float]:
    generator = np.random.default_rng()
    huge = paper(64, 693, 1_400_000)
    size = len(huge.cells.values)
    return {
        "ours_30M_seconds": median_seconds(lambda: _ours(huge), 3),
        "noise_30M_seconds": median_seconds(lambda: generator.laplace(0, 5, size), 3),
    }


def _ours(instance: Instance) -> None:
    project(instance.cells, instance.margins)


def main() -> dict[str, float]:
    """Measures, prints tables and returns the numbers."""
    figures = ours_alone()
    bars = {
        "ours_M_seconds": "at most 0.020",
        "ours_M_at_0.1_seconds": "at most 0.020",
        "ours_M_at_0.01_seconds": "at most 0.020",
        "ours_30M_seconds": "at most noise_30M_seconds",
        "ours_crossing_seconds": "well below 60",
        "ends_2.9M_seconds": "about 1",
        "ends_3.0M_wide_seconds": "about 1",
    }
    print_figures(figures, bars)
    tournament(figures)
    ratio = figures.get("fastest_M_over_ours", float("inf"))
    print(f"{'fastest_M_over_ours':<26} {ratio:>9,.0f}  at least 80")
    return figures


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(oppose(*sys.argv[1:4])))
    else:
        main()

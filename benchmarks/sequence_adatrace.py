"""AdaTrace (Gursoy et al., CCS 2018) as a peer, if its compiled classes are at hand.

HUSHWAY_ADATRACE names a folder with the classes of github.com/git-disl/AdaTrace and the two jars
that it needs. It is asked as its own main method does, without its defences against attacks. It
takes part where places are cells of a grid: every stop becomes a random point of its cell, and
points that come back are read as cells. It uses a grid of its own, 6 x 6 cells and finer ones
within, goes from neighbour to neighbour, and gives every trace two points at least.

Privacy:
    The published classes spend more than they are given: they choose laws of lengths by the exact
    lengths, split cells by exact densities, and publish the exact number of records. So what is
    shown here is better than the budget allows. It draws from the machine's own source: runs
    differ whatever the seed.
"""

import itertools
import os
import subprocess
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.study.data import WeightedSequences, distinct
from sequence_scenes import JudgedScene, without_repeats

_CALLER = """
import java.io.File;
import java.util.List;

public class Caller {
    public static void main(String[] given) throws Exception {
        List<Trajectory> records = Main.readTrajectories(new File(given[0]));
        double epsilon = Double.parseDouble(given[1]);
        Main.writeToFile(Main.Synthesize_Trajectories(records, epsilon, false), given[2]);
    }
}
"""


def ada_trace(scene: JudgedScene, epsilon: Fraction, seed: int) -> WeightedSequences | None:
    """Returns the traces that AdaTrace makes; None without its classes or without a grid."""
    classes = os.environ.get("HUSHWAY_ADATRACE")
    if classes is None or scene.grid is None:
        return None
    paths = [classes, *sorted(str(jar) for jar in Path(classes).glob("*.jar"))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        caller, given, made = folder / "Caller.java", folder / "given.dat", folder / "made.dat"
        caller.write_text(_CALLER)
        given.write_text(_as_text(scene, scene.grid, np.random.default_rng(seed)))
        # Points are written as the language of the machine does; it must be one with full stops.
        language = ("-Duser.language=en", "-Duser.country=US")
        share = str(float(epsilon / scene.max_records))
        command = ("java", *language, "-cp", os.pathsep.join(paths), str(caller))
        subprocess.run(
            (*command, str(given), share, str(made)), check=True, stdout=subprocess.DEVNULL
        )
        return _read(made.read_text().splitlines(), scene.grid)


def _as_text(scene: JudgedScene, cells: int, rng: np.random.Generator) -> str:
    """Returns records in AdaTrace's format, a point within the cell for every stop."""
    records = scene.bounded
    inside = rng.random((2, len(records.stops)))
    x, y = records.stops % cells + inside[0], records.stops // cells + inside[1]
    points = [f"{east:.4f},{north:.4f};" for east, north in zip(x, y, strict=True)]
    start = records.start.tolist()
    return "".join(
        f"#{number}:\n>0:{''.join(points[begin:end])}\n"
        for number, (begin, end) in enumerate(itertools.pairwise(start))
    )


def _read(lines: list[str], cells: int) -> WeightedSequences:
    """Returns traces as cells; no cell follows itself, and points outside are in the nearest."""
    traces = [line[3:].rstrip(";").split(";") for line in lines if line.startswith(">")]
    points = np.array([point.split(",") for trace in traces for point in trace], dtype=np.float64)
    record = np.repeat(np.arange(len(traces)), [len(trace) for trace in traces])
    start, stops, _ = without_repeats(record, _cells(points, cells))
    return distinct(start, stops)


def _cells(points: FloatArray, cells: int) -> IntArray:
    column, row = np.floor(points.T).clip(0, cells - 1).astype(np.int64)
    cell: IntArray = row * cells + column
    return cell

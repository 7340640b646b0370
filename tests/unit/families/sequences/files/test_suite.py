"""The releases of the family sequences, held to what every family is held to."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from hushway.families.sequences.files.published import FILES
from hushway.families.sequences.fit.table import SequenceTable
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.privacy.measured import Internal
from support.family_suite import Case, FamilySuite
from support.sequence_scenes import tree_certificate

Spoil = Callable[[SequenceTable], SequenceTable]

EDITS = [
    ("places.csv", b"42.3,", b"42.4,", "geography"),
    ("places.csv", b"blue", b"navy", "geography"),
    ("taxonomy.json", b'"blue"', b'"navy"', "geography"),
    ("taxonomy.json", b"{", b"[", "geography"),
    ("periods.csv", b"2026-03-31", b"2026-03-30", "geography"),
    ("levels.csv", b"1,line,", b"1,zone,", "tree"),
    ("levels.csv", b"stop,", b"step,", "tree"),
    ("tree.parquet", b"PAR1", b"PAR2", "tree"),
    ("sequences.parquet", b"PAR1", b"PAR2", "sequences"),
    ("sequences.csv", b" > ", b"  > ", "sequences"),
    ("sequences.csv", b",count", b",counts", "sequences"),
    ("datapackage.json", b'"times": true', b'"times": false', "geography"),
    ("datapackage.json", b'"times": true', b'"times": 1', "table facts"),
    ("datapackage.json", b'"times": true', b'"time": true', "table facts"),
    ("datapackage.json", b'"relative": 1e-12', b'"relative": 2e-12', "none"),
    ("datapackage.json", b'"stops": 3', b'"stops": 4', "package"),
    ("datapackage.json", b"not known to be absent", b"absent", "package"),
]


def shifted(table: SequenceTable, name: str, position: int, by: int) -> SequenceTable:
    """Changes one number of a column."""
    column = getattr(table, name).copy()
    column[position] += by
    return dataclasses.replace(table, **{name: column})


def first_step(table: SequenceTable, **changes: object) -> SequenceTable:
    step, *others = table.steps
    return dataclasses.replace(table, steps=(dataclasses.replace(step, **changes), *others))


def swapped(table: SequenceTable) -> SequenceTable:
    """Two nodes of the first step in the wrong order."""
    order = np.arange(len(table.parent))
    order[:2] = [1, 0]
    columns = ("code", "period", "measured", "counts", "ends")
    return dataclasses.replace(table, **{name: getattr(table, name)[order] for name in columns})


class Fuller:
    """Looks like a taxonomy, and could carry anything."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._taxonomy = taxonomy

    def __getattr__(self, name: str) -> Any:
        return getattr(self._taxonomy, name)


SPOILT: dict[str, Spoil] = {
    "internal counts": lambda t: dataclasses.replace(t, counts=Internal(t.counts)),
    "floats": lambda t: dataclasses.replace(t, measured=t.measured.astype(float)),
    "a list": lambda t: dataclasses.replace(t, code=t.code.tolist()),
    "too short": lambda t: dataclasses.replace(t, ends=t.ends[:-1]),
    "a look-alike": lambda t: dataclasses.replace(t, taxonomy=Fuller(t.taxonomy)),
    "no periods": lambda t: dataclasses.replace(t, periods="06:00-08:00"),
    "steps in a list": lambda t: dataclasses.replace(t, steps=list(t.steps)),
    "no steps": lambda t: dataclasses.replace(t, steps=()),
    "diagnostics": lambda t: dataclasses.replace(t, diagnostics={"truth": Internal(3)}),
    "odd diagnostics": lambda t: dataclasses.replace(t, diagnostics={"gap": np.float64(3)}),
    "a half threshold": lambda t: first_step(t, threshold=2.5),
    "no threshold": lambda t: first_step(t, threshold=0),
    "another number": lambda t: first_step(t, kept=1),
    "other candidates": lambda t: first_step(t, candidates=3),
    "another stop": lambda t: first_step(t, stop=1),
    "no noise": lambda t: first_step(t, standard_error=0.0),
    "no number": lambda t: first_step(t, standard_error=float("nan")),
    "another step": lambda t: shifted(t, "step", 0, 1),
    "no parent": lambda t: shifted(t, "parent", 0, 1),
    "a far parent": lambda t: shifted(t, "parent", -1, -90),
    "a place outside its group": lambda t: shifted(t, "code", 2, 2),
    "no such place": lambda t: shifted(t, "code", 2, 99),
    "no such period": lambda t: shifted(t, "period", 0, 1),
    "below the threshold": lambda t: shifted(t, "measured", 5, -10_000),
    "negative": lambda t: shifted(t, "counts", -1, -10_000),
    "too many below": lambda t: shifted(t, "counts", 0, -2000),
    "too large": lambda t: dataclasses.replace(t, counts=t.counts + 2**60),
    "other ends": lambda t: shifted(t, "ends", -1, 1),
    "ends at a group": lambda t: shifted(t, "ends", 0, 1),
    "out of order": swapped,
}


class TestSequences(FamilySuite):
    case = Case(
        family="sequences",
        table="tree",
        certify=tree_certificate,
        release="tree_release",
        edits_release="timed_release",
        checks={
            "tree_release": ["geography", "tree", "terms", "sequences", "completed"],
            "timed_release": ["geography", "tree", "terms", "sequences"],
        },
        edits=EDITS,
        others=["timed_tree"],
        spoilt=SPOILT,
        edited=("tree_release", "tree"),
        files=FILES,
        absent={"tree_release": {"periods.csv"}, "timed_release": {"completed.parquet"}},
    )

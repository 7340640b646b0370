import dataclasses
import json
from collections.abc import Callable
from filecmp import cmp
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.errors import PrivacyError
from hushway.families.sequences.fit.table import SequenceTable
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.privacy.certificate import Certificate
from hushway.privacy.loss import PureLoss
from hushway.privacy.measured import Internal

Build = Callable[..., SequenceTable]
Certify = Callable[..., Certificate]
Spoil = Callable[[SequenceTable], SequenceTable]

# So much that every prefix stands out from the noise, and so little that none does.
LAVISH, MEAGRE = PureLoss(Fraction(100)), PureLoss(Fraction(1, 1000))

FILES = [
    "certificate.html",
    "certificate.json",
    "croissant.json",
    "datapackage.json",
    "label.yaml",
    "levels.csv",
    "places.csv",
    "mobilitydcat-ap.jsonld",
    "picture.png",
    "seal.json",
    "sequences.csv",
    "sequences.parquet",
    "taxonomy.json",
    "tree.parquet",
]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_release_holds_its_files(tree_release: Path, timed_release: Path) -> None:
    assert names(tree_release) == sorted([*FILES, "completed.parquet"])
    assert names(timed_release) == sorted([*FILES, "periods.csv"])


def test_the_same_release_gives_the_same_bytes(
    tmp_path: Path, tree_release: Path, tree: SequenceTable, certify_tree: Certify
) -> None:
    again = write_release(tmp_path / "again", table=tree, certificate=certify_tree(tree))
    for name in FILES:
        assert cmp(again / name, tree_release / name, shallow=False), name


def test_the_data_package_says_what_a_missing_row_means(
    timed_release: Path, timed_tree: SequenceTable
) -> None:
    package = json.loads((timed_release / "datapackage.json").read_bytes())
    described = {each["path"]: each for each in package["resources"]}
    assert "not known to be absent" in described["sequences.parquet"]["description"]
    fields = described["sequences.csv"]["schema"]["fields"]
    assert [field["name"] for field in fields] == ["sequence", "periods", "count"]
    header = (timed_release / "places.csv").read_text().splitlines()[0]
    fields = described["places.csv"]["schema"]["fields"]
    assert [field["name"] for field in fields] == header.split(",")
    assert package["table"] == {
        "sequences": int(np.count_nonzero(timed_tree.ends)),
        "records": int(timed_tree.ends.sum()),
        "nodes": len(timed_tree.parent),
        "stops": 3,
        "granularities": ["zone", "line", "place"],
        "times": True,
        "fit": dict(timed_tree.diagnostics),
    }


@pytest.mark.parametrize("spend", [LAVISH, MEAGRE], ids=["everything", "nothing"])
@pytest.mark.parametrize("levels", [0, 2])
def test_trees_of_every_kind_verify(
    tmp_path: Path,
    build: Build,
    city: Callable[..., Taxonomy],
    certify_tree: Certify,
    *,
    spend: PureLoss,
    levels: int,
) -> None:
    table = build(city(levels), spend=spend, height=3, records=500)
    certificate = certify_tree(table, spend=spend)
    if spend is LAVISH:
        assert {step.threshold for step in table.steps} == {1}
        assert not certificate.terms.not_taken
    else:
        assert len(table.parent) == 0
        assert certificate.terms.not_taken
    folder = write_release(tmp_path / "r", table=table, certificate=certificate)
    assert verify(folder).passed


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


@pytest.mark.parametrize("name", SPOILT)
def test_only_published_trees_leave_the_building(
    tmp_path: Path, tree: SequenceTable, certify_tree: Certify, name: str
) -> None:
    with pytest.raises(PrivacyError):
        write_release(tmp_path / "r", table=SPOILT[name](tree), certificate=certify_tree(tree))
    assert not (tmp_path / "r").exists()


def test_periods_never_run_backwards(
    tmp_path: Path, timed_tree: SequenceTable, certify_tree: Certify
) -> None:
    later = int(np.flatnonzero((timed_tree.step == 3) & (timed_tree.period == 2))[-1])
    early = shifted(timed_tree, "period", later, -2)
    with pytest.raises(PrivacyError, match="before the period of its parent"):
        write_release(tmp_path / "r", table=early, certificate=certify_tree(timed_tree))

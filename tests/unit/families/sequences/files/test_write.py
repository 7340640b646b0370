import dataclasses
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from hushway.errors import PrivacyError
from hushway.families.sequences.fit.table import SequenceTable
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.privacy.loss import PureLoss
from support.sequence_scenes import lines_city, tree_certificate, tree_of

# So much that every prefix stands out from the noise, and so little that none does.
LAVISH, MEAGRE = PureLoss(Fraction(100)), PureLoss(Fraction(1, 1000))


def test_the_data_package_says_what_a_missing_row_means(
    timed_release: Path, timed_tree: SequenceTable
) -> None:
    package = json.loads((timed_release / "datapackage.json").read_bytes())
    described = {each["path"]: each for each in package["resources"]}
    assert "not known to be absent" in described["sequences.parquet"]["description"]
    fields = described["sequences.csv"]["schema"]["fields"]
    assert [field["name"] for field in fields] == ["sequence", "names", "periods", "count"]
    assert "or more stand in prefixes of two stops" in package["table"].pop("known")
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
def test_trees_of_every_kind_verify(tmp_path: Path, *, spend: PureLoss, levels: int) -> None:
    table = tree_of(lines_city(levels), spend=spend, height=3, records=500)
    certificate = tree_certificate(table, spend=spend)
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


def test_periods_never_run_backwards(tmp_path: Path, timed_tree: SequenceTable) -> None:
    later = int(np.flatnonzero((timed_tree.step == 3) & (timed_tree.period == 2))[-1])
    early = shifted(timed_tree, "period", later, -2)
    with pytest.raises(PrivacyError, match="before the period of its parent"):
        write_release(tmp_path / "r", table=early, certificate=tree_certificate(timed_tree))

"""The atlas of a release of sequences says what its tree or its prefixes say."""

from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from hushway.families.load import plan_from, prepare
from hushway.families.sequences.fit.table import SequenceTable
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.privacy.randomness import SeededSource
from hushway.steward.publish import publish
from support.atlases import ReadAtlas, atlas_in
from support.little_plans import little_plan, write_little_files

Prefix = tuple[Any, ...]


def prefixes_in(table: SequenceTable) -> dict[Prefix, tuple[int, float]]:
    """Follows parents one by one: the count and error of every prefix of (place, period)."""
    finest, grains = table.taxonomy.grains - 1, table.grains
    place = table.taxonomy.location_of(table.code)
    found: dict[Prefix, tuple[int, float]] = {}
    for node in np.flatnonzero(grains == finest).tolist():
        stops, at = [], node
        while at >= 0:
            if grains[at] == finest:
                stops.append((int(place[at]), int(table.period[at])))
            at = int(table.parent[at])
        error = table.steps[table.step[node]].standard_error
        found[tuple(reversed(stops))] = int(table.counts[node]), float(np.float32(error))
    return found


def tree_in(atlas: ReadAtlas) -> dict[Prefix, tuple[int, float]]:
    """Reads the rows of an atlas in order: a parent must have been read before."""
    parent, place = atlas.column("tree", "parent"), atlas.column("tree", "place")
    timed = atlas.facts["tree"]["period"] is not None
    period = atlas.column("tree", "period") if timed else np.zeros_like(place)
    count, error = atlas.column("tree", "count"), atlas.column("tree", "error")
    names: list[Prefix] = []
    for row, above in enumerate(parent.tolist()):
        before = names[above] if above >= 0 else ()
        names.append((*before, (int(place[row]), int(period[row]))))
    return {name: (int(count[row]), float(error[row])) for row, name in enumerate(names)}


@pytest.mark.parametrize("kind", ["tree", "timed_tree"])
def test_the_tree_is_the_published_one(
    kind: str, request: pytest.FixtureRequest, written_trees: Path
) -> None:
    table: SequenceTable = request.getfixturevalue(kind)
    atlas = atlas_in(written_trees / ("plain" if kind == "tree" else "timed"))
    expected = prefixes_in(table)
    assert tree_in(atlas) == expected
    assert len(expected) == atlas.facts["tree"]["count"]["length"] > 20
    assert (atlas.facts["tree"]["period"] is None) == (table.periods is None)


@pytest.mark.parametrize("kind", ["plain", "timed"])
def test_rows_are_ordered_by_depth_and_size(written_trees: Path, kind: str) -> None:
    atlas = atlas_in(written_trees / kind)
    parent, count = atlas.column("tree", "parent"), atlas.column("tree", "count")
    depth = np.zeros(len(parent), dtype=np.int64)
    for row, above in enumerate(parent.tolist()):
        depth[row] = depth[above] + 1 if above >= 0 else 0
    assert np.all(np.diff(depth) >= 0)
    siblings = parent[1:] == parent[:-1]
    assert np.all(count[1:][siblings] <= count[:-1][siblings])
    # Those of one parent stand together.
    assert np.all(np.diff(parent) >= 0)


@pytest.mark.parametrize("kind", ["tree", "timed_tree"])
def test_totals_and_flows_are_the_prefixes_of_one_and_two_stops(
    kind: str, request: pytest.FixtureRequest, written_trees: Path
) -> None:
    table: SequenceTable = request.getfixturevalue(kind)
    atlas = atlas_in(written_trees / ("plain" if kind == "tree" else "timed"))
    periods = len(atlas.facts["periods"])
    known = prefixes_in(table)
    totals = {name[0]: told for name, told in known.items() if len(name) == 1}
    count, error = atlas.column("totals", "count"), atlas.column("totals", "error")
    for place in range(len(atlas.facts["places"]["ids"])):
        for period in range(periods):
            drawn = count[place * periods + period], error[place * periods + period]
            if (place, period) in totals:
                assert drawn == totals[place, period]
            else:
                assert np.isnan(drawn).all()
    flows: dict[Prefix, list[tuple[int, float]]] = defaultdict(list)
    for name, told in known.items():
        if len(name) == 2:
            flows[name[0][1], name[0][0], name[1][0]].append(told)
    starts = atlas.column("flows", "starts")
    columns = ("origin", "destination", "count", "error")
    drawn_flows = list(
        zip(
            np.repeat(np.arange(periods), np.diff(starts)).tolist(),
            *(atlas.column("flows", name).tolist() for name in columns),
            strict=True,
        )
    )
    assert len(drawn_flows) == len(flows)
    for period, origin, destination, total, off in drawn_flows:
        own = flows[period, origin, destination]
        assert total == sum(told for told, _ in own)
        # Nobody knows how far a sum may be off.
        assert off == own[0][1] if len(own) == 1 else np.isnan(off)
    if kind == "timed_tree":
        assert {len(own) for own in flows.values()} > {1}


@pytest.fixture(scope="module")
def learnt_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of learnt records, with so many people that prefixes are sure."""
    folder = tmp_path_factory.mktemp("learnt")
    write_little_files(folder)
    ways = ("ab", "abc", "bd", "ca", "d")
    taps = [
        f"p{person},{place},2026-03-02T{8 + hour:02d}:30:00"
        for person in range(1500)
        for hour, place in enumerate(ways[person % len(ways)])
    ]
    (folder / "taps.csv").write_text("\n".join(["person,place,time", *taps]), encoding="utf-8")
    plan = little_plan("sequences") | {"mechanism": {"name": "learned"}}
    plan["privacy"] = {"epsilon": "100"}
    job = prepare(plan_from(plan, folder=folder))
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.ZCDP, Fraction(10**6)))
    return publish(job, source=SeededSource(3)).folder


def test_learnt_prefixes_are_the_published_ones(learnt_release: Path) -> None:
    atlas = atlas_in(learnt_release)
    index = {key: at for at, key in enumerate(atlas.facts["places"]["ids"])}
    rows = pq.read_table(learnt_release / "prefixes.parquet").to_pylist()
    expected = {
        tuple((index[stop], 0) for stop in row["prefix"]): (
            row["count"],
            float(np.float32(row["standard_error"])),
        )
        for row in rows
    }
    assert len(expected) > 3
    assert tree_in(atlas) == expected
    assert atlas.facts["periods"] == [{"label": "all day", "group": None, "whole": False}]
    assert atlas.facts["window"] == "2026-03"

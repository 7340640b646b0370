"""All visits of everybody, beside the study's own count of them."""

from pathlib import Path

import numpy as np
import pytest

from hushway.engine.embedded import embedded_session
from hushway.engine.settings import EngineSettings
from hushway.families.density.job import EventRows
from hushway.families.density.public.visits import DensityUniverse
from hushway.families.density.rows.counter import EveryVisit, VisitsOfPeople
from hushway.families.density.rows.rows import visits_read
from hushway.families.density.study.scene import exact_visits
from hushway.families.load import plan_from, prepare
from support.little_plans import little_plan, write_little_files


@pytest.mark.parametrize("ids", ["text", "numbers"])
def test_everybody_counts_once_at_each_site_in_a_period(tmp_path: Path, ids: str) -> None:
    write_little_files(tmp_path)
    path = tmp_path / "events.csv"
    lines = path.read_text("utf-8").splitlines()
    # Every row twice, which is one visit all the same.
    rows = [line.removeprefix("p" if ids == "numbers" else "") for line in [*lines, *lines[1:]]]
    path.write_text("\n".join([lines[0], *rows[1:]]) + "\n", "utf-8")
    job = prepare(plan_from(little_plan("density"), folder=tmp_path))
    universe, source = job.geography, job.rows
    assert isinstance(universe, DensityUniverse)
    assert isinstance(source, EventRows)
    part = EveryVisit(universe=universe)
    settings = EngineSettings(threads=1)
    with embedded_session(settings) as session:
        found = session.count(visits_read(session, source.source, universe), part)
    with embedded_session(settings) as session:
        everybody = VisitsOfPeople(universe=universe)
        people = session.count(visits_read(session, source.source, universe), everybody)
    number = np.arange(36)
    areas = {key: position for position, key in enumerate(universe.areas.ids)}
    places = ("-8.6/41.1", "-8.59/41.1", "-8.6/41.11", "-8.59/41.11")
    site = np.array([areas[places[i % 4]] for i in number])
    expected = exact_visits(number % 6, site, number % 20 // 12, universe.site_count, 2)
    by_bin = expected.T.ravel()
    assert np.array_equal(found.cells, np.flatnonzero(by_bin))
    assert np.array_equal(found.values, by_bin[found.cells])
    assert part.counted(part.sums(found)) is found
    # All six people are at two places in each half of the day.
    assert dict(zip(people.cells, people.values, strict=True)) == {4: 6}

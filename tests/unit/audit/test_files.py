"""Through files the same scenes give the same counts.

Noise is 0 but for one draw in 10^14, and a test has a few hundred draws.
"""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from hushway.arrays import IntArray
from hushway.audit.mutant_curators import dense
from hushway.audit.product import FILES, files_of, microseconds
from hushway.families.density.audit import whole as density_whole
from hushway.families.density.audit.looks import Projection
from hushway.families.density.audit.product import REAL_DENSITY, Stay, district, visits_in_memory
from hushway.families.density.public.visits import VisitLimits
from hushway.families.links.audit import whole as links_whole
from hushway.families.links.audit.looks import StagedLook
from hushway.families.links.audit.product import REAL_LINKS, LinkStage, rings
from hushway.families.links.public.universe import MovementLimits
from hushway.families.od.audit import dense as od_dense
from hushway.families.od.audit import product as od_product
from hushway.families.od.audit.dense import Counts
from hushway.families.od.audit.product import REAL, Part
from hushway.families.sequences.audit import product as sequences_product
from hushway.families.sequences.audit import published as sequences_published
from hushway.families.sequences.audit.looks import FirstStep
from hushway.families.sequences.audit.product import REAL_SEQUENCES, TreeForm, Walk
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.query import Query
from hushway.privacy.randomness import os_source

PLENTY = PureLoss(Fraction(300))


def test_rows_are_dealt_out_so_that_everybody_is_in_all_files() -> None:
    person = np.repeat(np.arange(3), 2 * FILES)
    with files_of({"person": person, "time": np.zeros_like(person)}) as folder:
        tables = [pq.read_table(file) for file in sorted(Path(folder).iterdir())]
    assert len(tables) == FILES
    assert all(set(table["person"].to_pylist()) == {0, 1, 2} for table in tables)
    assert not folder.exists()


def test_times_are_microseconds_of_the_wall_clock() -> None:
    day = od_product.toy_universe(places=2, periods=1).cells.periods.first_day
    with files_of({"time": microseconds(day, np.array([1_500_000]))}) as folder:
        (time,) = pq.read_table(folder)["time"].to_pylist()
    assert time.isoformat() == f"{day.isoformat()}T00:00:01.500000"


def test_trips_of_files_count_as_they_do_in_memory() -> None:
    stage = od_dense.FileStage(
        product=REAL, toy=od_product.toy_universe(places=3, periods=2), spend=PLENTY, max_trips=3
    )
    scene = (Part(times=20), Part(person=1, period=1))
    first = stage.sampler(scene, Counts(stage).of_cell)(6)
    assert first.tolist() == [3] * 6
    assert stage.sampler(scene, Counts(stage).smallest)(6).tolist() == [1] * 6


def test_taps_of_files_become_one_record_a_day() -> None:
    form = TreeForm(
        words="tree", toy=sequences_product.toy_universe(corners=3, groups=2, places=2), height=2
    )
    stage = sequences_published.FileTreeStage(
        product=REAL_SEQUENCES, form=form, spend=PureLoss(Fraction(900)), max_records=3
    )
    look = FirstStep(stage=stage, places=(0, 2))
    scene = (Walk(stops=(0, 3), times=10), Walk(stops=(2,), person=1, times=2))
    assert stage.sampler(scene, look.packed)(3).tolist() == [3 * 64 + 2] * 3


def test_taps_of_files_keep_their_times() -> None:
    form = TreeForm(
        words="tree", toy=sequences_product.toy_universe(corners=3, periods=3), height=1
    )
    stage = sequences_published.FileTreeStage(
        product=REAL_SEQUENCES, form=form, spend=PureLoss(Fraction(90))
    )
    look = FirstStep(stage=stage, places=(0, 0), periods=(1, 2))
    sample = stage.sampler((Walk(stops=(0,), periods=(2,)),), look.packed)
    assert sample(3).tolist() == [1] * 3


def test_events_of_files_count_as_they_do_in_memory() -> None:
    stage = density_whole.FileStage(
        product=REAL_DENSITY,
        district=district(corners=3, bins=6),
        limits=VisitLimits(max_visits=4, max_visits_in_total=4),
        spend=PureLoss(Fraction(400)),
    )
    scene = (Stay(site=0, bin=2, times=9), Stay(site=10, bin=5))
    counter = visits_in_memory(stage.district.play(scene), stage.terms, os_source())
    cells = stage.mechanism.series(stage.district.universe, stage.district.every_cell)
    query = Query(name=cells.name, cells=cells)
    exact = stage.district.series_by_corner(dense(counter.count(query), query))
    for cell, when in ((0, 2), (0, 5), (1, 5), (3, 3)):
        look = Projection(stage=stage, direction={(cell, when): 1}).seen
        # Noise of scale 10 parts of 1,024 is not above 400 but for one draw in 10^17.
        seen = stage.sampler(scene, look)(3)
        assert abs(seen - exact[:, cell, when]).max() < 400
    assert exact[0, 0, 2] == 1024


def test_positions_of_files_become_the_items_of_one_way() -> None:
    stage = LinkStage(
        product=REAL_LINKS,
        rings=rings(corners=3),
        limits=MovementLimits(max_items=9),
        spend=PLENTY,
    )

    def every_item(curator: Curator) -> IntArray:
        (answer,) = StagedLook(stage=stage).measured(curator)
        return stage.rings.by_corner(answer.query.cells, answer.values)

    found = links_whole.Drivers(stage=stage, look=every_item).sampler(2)(3)
    way, begins, ends = [1] * 4 + [0] * 6, [1] + [0] * 9, [0] * 4 + [1] + [0] * 5
    assert found.tolist() == [way + begins + ends] * 3

"""Through files the same scenes give the same counts.

Noise is 0 but for one draw in 10^14, and a test has a few hundred draws.
"""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from hushway.arrays import IntArray
from hushway.auditing.product import FILES, Product, files_of, microseconds
from hushway.families.density.audit.questions import Projection
from hushway.families.density.audit.stage import DensityStage, Stay, district
from hushway.families.density.public.visits import VisitLimits
from hushway.families.links.audit.stage import Drive, LinkStage, rings
from hushway.families.links.public.universe import MovementLimits
from hushway.families.od.audit import stage as od
from hushway.families.od.audit.laplace import first_cell, smallest_cell
from hushway.families.sequences.audit import stage as sequences
from hushway.families.sequences.audit.tree_looks import FirstStep
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.query import Query

PLENTY = PureLoss(Fraction(300))


def test_rows_are_dealt_out_so_that_everybody_is_in_all_files() -> None:
    person = np.repeat(np.arange(3), 2 * FILES)
    with files_of({"person": person, "time": np.zeros_like(person)}) as folder:
        tables = [pq.read_table(file) for file in sorted(Path(folder).iterdir())]
    assert len(tables) == FILES
    assert all(set(table["person"].to_pylist()) == {0, 1, 2} for table in tables)
    assert not folder.exists()


def test_times_are_microseconds_of_the_wall_clock() -> None:
    day = od.toy_universe(places=2, periods=1).cells.periods.first_day
    with files_of({"time": microseconds(day, np.array([1_500_000]))}) as folder:
        (time,) = pq.read_table(folder)["time"].to_pylist()
    assert time.isoformat() == f"{day.isoformat()}T00:00:01.500000"


def test_trips_of_files_count_as_they_do_in_memory() -> None:
    toy = od.toy_universe(places=3, periods=2)
    stage = od.ODStage(product=od.ODProduct(), toy=toy, spend=PLENTY, max_trips=3, in_files=True)
    scene = (od.Part(times=20), od.Part(person=1, period=1))
    assert stage.sampler(scene, first_cell)(6).tolist() == [3] * 6
    assert stage.sampler(scene, smallest_cell)(6).tolist() == [1] * 6


def of_taps(epsilon: int, toy: sequences.ToyUniverse, height: int) -> sequences.SequenceStage:
    return sequences.SequenceStage(
        product=Product(),
        form=sequences.TreeForm(words="tree", toy=toy, height=height),
        spend=PureLoss(Fraction(epsilon)),
        max_records=3,
        in_files=True,
    )


def test_taps_of_files_become_one_record_a_day() -> None:
    stage = of_taps(900, sequences.toy_universe(corners=3, groups=2, places=2), height=2)
    scene = (sequences.Walk(stops=(0, 3), times=10), sequences.Walk(stops=(2,), person=1, times=2))
    assert stage.sampler(scene, FirstStep((0, 2)).packed)(3).tolist() == [3 * 64 + 2] * 3


def test_taps_of_files_keep_their_times() -> None:
    stage = of_taps(270, sequences.toy_universe(corners=3, periods=3), height=1)
    scene = (sequences.Walk(stops=(0,), periods=(2,)),)
    look = FirstStep((0, 0), periods=(1, 2)).packed
    assert stage.sampler(scene, look)(3).tolist() == [1] * 3


def test_events_of_files_count_as_they_do_in_memory() -> None:
    stage = DensityStage(
        product=Product(),
        district=district(corners=3, bins=6),
        limits=VisitLimits(max_visits=4, max_visits_in_total=4),
        spend=PureLoss(Fraction(400)),
        in_files=True,
    )
    scene = (Stay(site=0, bin=2, times=9), Stay(site=10, bin=5))
    cells = stage.mechanism.series(stage.universe, stage.district.every_cell)
    exact = stage.exact(scene, Query(name=cells.name, cells=cells))
    by_corner = stage.district.series_by_corner(exact)
    for cell, when in ((0, 2), (0, 5), (1, 5), (3, 3)):
        # Noise of scale 10 parts of 1,024 is not above 400 but for one draw in 10^17.
        seen = stage.sampler(scene, Projection({(cell, when): 1}))(3)
        assert abs(seen - by_corner[:, cell, when]).max() < 400
    assert by_corner[0, 0, 2] == 1024


def test_positions_of_files_become_the_items_of_one_way() -> None:
    stage = LinkStage(
        product=Product(),
        rings=rings(corners=3),
        limits=MovementLimits(max_items=9),
        spend=PLENTY,
        in_files=True,
    )

    def every_item(place: LinkStage, curator: Curator) -> IntArray:
        (answer,) = place.measured(curator)
        return place.rings.by_corner(answer.query.cells, answer.values)

    way, begins, ends = [1] * 4 + [0] * 6, [1] + [0] * 9, [0] * 4 + [1] + [0] * 5
    scene = tuple(Drive(link=link, times=2) for link in range(4))
    assert stage.sampler(scene, every_item)(3).tolist() == [way + begins + ends] * 3

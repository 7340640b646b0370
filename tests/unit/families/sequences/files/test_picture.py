import struct
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from hushway.families.sequences.files.picture import (
    OTHERS,
    boxes_of_stops,
    colour_groups,
    draw_icicle,
    draw_lengths,
    draw_sequences_picture,
    records_by_length,
    sums_by_way,
    visits_by_location,
)
from hushway.families.sequences.files.tree import prefixes_of
from hushway.families.sequences.fit.table import SequenceTable
from hushway.privacy.loss import PureLoss
from hushway.release.drawing.ground import png_of
from support.sequence_scenes import lines_city, tree_certificate, tree_of

# So little that nothing stands out from the noise.
MEAGRE = PureLoss(Fraction(1, 1000))
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "choices",
    [{}, {"times": True}, {"spend": MEAGRE}, {"height": 1}, {"levels": 0}],
    ids=["plain", "timed", "empty", "one stop", "simple"],
)
def test_every_tree_has_a_picture(choices: dict[str, Any]) -> None:
    levels = choices.get("levels", 2)
    others = {name: value for name, value in choices.items() if name != "levels"}
    table = tree_of(lines_city(levels), **others)
    assert (len(table.parent) == 0) == (choices.get("spend") == MEAGRE)
    spent = {name: value for name, value in choices.items() if name == "spend"}
    picture = draw_sequences_picture(table, tree_certificate(table, **spent))
    assert picture.startswith(PNG)
    assert struct.unpack(">II", picture[16:24]) == (1680, 1036)


def test_no_title_stands_on_the_names_of_columns(
    tree: SequenceTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Figure] = []

    def kept_png_of(figure: Figure) -> bytes:
        drawn.append(figure)
        return png_of(figure)

    monkeypatch.setattr("hushway.families.sequences.files.picture.png_of", kept_png_of)
    draw_sequences_picture(tree, tree_certificate(tree))
    (figure,) = drawn
    names = 0
    axes: Any  # matplotlib's types do not name the titles at the left
    for axes in figure.axes:
        title = axes.get_title(loc="left") and axes._left_title.get_window_extent()
        for label in axes.get_xticklabels():
            if title and label.get_text() and label.get_visible():
                names += 1
                assert not title.overlaps(label.get_window_extent())
    assert names > 3


def test_sums_are_those_of_the_published_sequences(tree: SequenceTable) -> None:
    start, places, counts = tree.sequences()
    size = len(tree.taxonomy.locations)
    visits, ways = np.zeros(size), np.zeros((size, size))
    lengths = np.zeros(4, dtype=np.int64)
    for i, count in enumerate(counts.tolist()):
        stops = places[start[i] : start[i + 1]].tolist()
        lengths[len(stops) - 1] += count
        for j, stop in enumerate(stops):
            visits[stop] += count
            if j:
                ways[stops[j - 1], stop] += count
    assert visits_by_location(tree).tolist() == visits.tolist()
    assert records_by_length(tree).tolist() == lengths.tolist()
    sums = sums_by_way(tree, prefixes_of(tree))
    assert sums.keys.tolist() == np.flatnonzero(ways).tolist()
    assert sums.totals.tolist() == ways.reshape(-1)[sums.keys].tolist()


def test_the_noise_of_a_way_is_that_of_its_prefixes(tree: SequenceTable) -> None:
    sums = sums_by_way(tree, prefixes_of(tree))
    nodes = np.round((sums.standard_errors / tree.steps[0].standard_error) ** 2)
    later = (tree.grains == 2) & (prefixes_of(tree) >= 0)
    assert int(nodes.sum()) == int(np.count_nonzero(later))


@pytest.mark.parametrize("smallest", [0.0, 0.03, 0.2, 2.0])
def test_boxes_stand_for_all_records_beside_what_they_continue(
    tree: SequenceTable, smallest: float
) -> None:
    groups = np.arange(len(tree.taxonomy.locations)) % 3
    columns = boxes_of_stops(tree, prefixes_of(tree), groups, stops=3, smallest=smallest)
    stops = np.array([step.stop for step in tree.steps])[tree.step]
    total = int(columns[0].heights.sum())
    for stop, boxes in enumerate(columns):
        is_here = (stops == stop) & (tree.grains == 2)
        assert int(boxes.heights.sum()) == int(tree.counts[is_here].sum())
        bottoms = boxes.tops + boxes.heights
        assert np.all(bottoms[:-1] <= boxes.tops[1:])
        own = boxes.place != OTHERS
        assert np.all(boxes.heights[own] >= smallest * total)
        assert np.all(boxes.places[own] == 1)
        assert np.all(groups[boxes.place[own]] == boxes.group[own])
        if stop:
            above = columns[stop - 1]
            assert np.all(boxes.tops >= above.tops[boxes.above])
            assert np.all(bottoms <= (above.tops + above.heights)[boxes.above])
    if smallest == 0:
        assert all(np.all(boxes.place != OTHERS) for boxes in columns)
        assert len(columns[1].heights) == int(np.count_nonzero((stops == 1) & (tree.grains == 2)))
    if smallest == 2:
        assert columns[0].places.tolist() == [4, 4, 4]


def test_large_boxes_have_names_and_counts() -> None:
    tree = tree_of(lines_city(2, places=80), spend=PureLoss(Fraction(2)))
    axes = Figure().add_subplot()
    draw_icicle(axes, tree, prefixes_of(tree), colour_groups(tree.taxonomy))
    shown = [text.get_text() for text in axes.texts]
    first = int(np.flatnonzero(tree.step == 2)[tree.counts[tree.step == 2].argmax()])
    place = int(tree.taxonomy.location_of(tree.code[first : first + 1])[0])
    assert tree.taxonomy.locations.places[place].name in shown
    assert f"{int(tree.counts[first]):,}" in shown
    assert any(text.endswith(" places") for text in shown)


def test_bars_show_the_records_of_each_length(tree: SequenceTable) -> None:
    axes = Figure().add_subplot()
    draw_lengths(axes, tree)
    heights = [bar.get_height() for bar in axes.patches if isinstance(bar, Rectangle)]
    assert heights == records_by_length(tree).tolist()


def test_places_have_the_colours_of_their_coarsest_groups() -> None:
    assert colour_groups(lines_city(2))[:2] == ["west", "east"]
    assert colour_groups(lines_city(1))[:2] == ["red", "blue"]
    assert colour_groups(lines_city(0))[:2] == ["west", "east"]

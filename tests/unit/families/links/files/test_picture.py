import dataclasses
import struct

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from hushway.families.links.files.map import (
    PeopleScale,
    draw_network,
    draw_scale,
    round_steps,
    scale_of,
)
from hushway.families.links.files.picture import (
    busiest_rows,
    draw_classes,
    draw_hours,
    draw_links_picture,
    draw_noise,
    street_name,
    totals_by_link,
)
from hushway.families.links.fit.table import LinkTable
from support.link_scenes import links_certificate, links_of, parts_of_days, streets_of

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("side", "parts", "share"),
    [(2, 1, 1.0), (4, 1, 0.0), (8, 24, 0.4), (60, 1, 0.3)],
    ids=["seven links", "nothing shows", "hours", "14,159 links"],
)
def test_every_release_has_a_picture(*, side: int, parts: int, share: float) -> None:
    table = links_of(streets_of(side, parts_of_days(parts)), share=share, classes=parts == 1)
    picture = draw_links_picture(table, links_certificate(table))
    assert picture.startswith(PNG)
    assert struct.unpack(">II", picture[16:24]) == (1680, 1036)


def people_of(figure: Figure) -> PathCollection:
    (axes,) = figure.axes
    _, people = (each for each in axes.collections if isinstance(each, PathCollection))
    return people


def test_two_directions_lie_beside_each_other_to_the_right_of_the_middle(links: LinkTable) -> None:
    roads = links.universe.roads
    # The first link leads east; the one back is as many links later as there are streets.
    back = int(np.flatnonzero(roads.street == roads.street[0])[1])
    middles = []
    for link in (0, back):
        figure, counts = Figure(), np.zeros(roads.links)
        counts[link] = 5.0
        draw_network(figure.add_axes((0, 0, 1, 1)), roads, counts)
        (line,) = people_of(figure).get_paths()
        middles.append(line.vertices.mean(axis=0))
    course = roads.points[roads.start[0] : roads.start[1]].mean(axis=0)
    assert middles[0][1] < course[1] < middles[1][1]
    assert middles[0][1] + middles[1][1] == pytest.approx(2 * course[1], abs=1e-3)


def test_a_one_way_street_lies_in_the_middle(links: LinkTable) -> None:
    roads = links.universe.roads
    alone = int(np.flatnonzero(np.bincount(roads.street)[roads.street] == 1)[0])
    figure, counts = Figure(), np.zeros(roads.links)
    counts[alone] = 5.0
    draw_network(figure.add_axes((0, 0, 1, 1)), roads, counts)
    (line,) = people_of(figure).get_paths()
    own = roads.points[roads.start[alone] : roads.start[alone + 1]]
    assert np.allclose(line.vertices, own)


def test_the_busiest_links_are_widest_and_drawn_last(links: LinkTable) -> None:
    figure = Figure()
    counts = totals_by_link(links)
    draw_network(figure.add_axes((0, 0, 1, 1)), links.universe.roads, counts)
    people = people_of(figure)
    widths = np.asarray(people.get_linewidth())
    assert np.all(np.diff(widths) >= 0)
    assert widths[-1] == pytest.approx(6.0)
    lines = sum(np.count_nonzero(path.codes == path.MOVETO) for path in people.get_paths())
    assert lines == int((counts > 0).sum())


def test_many_lines_are_a_few_strokes(links: LinkTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hushway.families.links.files.map._LINES_A_STROKE", 2)
    figure = Figure()
    roads = links.universe.roads
    draw_network(figure.add_axes((0, 0, 1, 1)), roads, np.full(roads.links, 3.0))
    paths = people_of(figure).get_paths()
    starts = [np.count_nonzero(path.codes == path.MOVETO) for path in paths]
    assert starts == [2] * (roads.links // 2) + [1] * (roads.links % 2)
    assert sum(len(path.vertices) for path in paths) == len(roads.lon)


def test_two_maps_can_share_a_scale(links: LinkTable) -> None:
    figure, roads = Figure(), links.universe.roads
    scale = scale_of(roads, np.full(roads.links, 1234.0))
    assert scale.most == 1200.0
    axes = figure.add_axes((0, 0, 1, 1))
    assert draw_network(axes, roads, np.full(roads.links, 3.0), scale=scale) is scale
    assert people_of(figure).get_linewidth()[0] < 1
    draw_scale(axes, scale, title="persons")
    legend = axes.get_legend()
    assert legend is not None
    words = [text.get_text() for text in legend.get_texts()]
    assert words == ["100", "200", "500", "1,200 or more", "not shown"]


def test_widths_and_colours_grow_with_the_count() -> None:
    scale = PeopleScale(most=100.0)
    assert scale.widths(np.array([0.0, 50.0, 100.0, 900.0])).tolist() == [0.5, 3.25, 6.0, 6.0]
    light, dark = scale.colours(np.array([0.0, 500.0]))
    assert tuple(light) == to_rgba("#f2c14e")
    assert tuple(dark) == to_rgba("#3d1e5c")


@pytest.mark.parametrize(
    ("most", "steps"), [(1.0, [0.1, 0.2, 0.5]), (99.0, [10, 20, 50]), (0.03, [0.005, 0.01, 0.02])]
)
def test_legends_have_round_numbers(most: float, steps: list[float]) -> None:
    assert round_steps(most) == pytest.approx(steps)


def test_a_road_far_out_does_not_shrink_the_map() -> None:
    roads = streets_of(20).roads
    nothing = np.zeros(roads.links)
    near, far = (Figure().add_axes((0, 0, 1, 1)) for _ in range(2))
    draw_network(near, roads, nothing)
    lon = roads.node_lon.copy()
    lon[-1] += 5
    draw_network(far, dataclasses.replace(roads, node_lon=lon), nothing)
    (a, b), (c, d) = near.get_xlim(), far.get_xlim()
    assert 0.9 < (d - c) / (b - a) < 1.1


def test_classes_are_shown_with_what_was_fitted_to_links_that_do_not_show(links: LinkTable) -> None:
    axes = Figure().add_axes((0, 0, 1, 1))
    draw_classes(axes, links)
    classes = links.universe.roads.road_class[links.link]
    shown, rest = ([bar.get_width() for bar in bars] for bars in axes.containers)
    assert shown == pytest.approx([links.counts[classes == i].sum() for i in range(1, 6)])
    assert sum(rest) == pytest.approx(links.rest.counts.sum())
    assert [bar.get_x() for bar in axes.containers[1]] == pytest.approx(shown)


def test_noise_is_shown_as_shares_of_all_counts(links: LinkTable) -> None:
    axes = Figure().add_axes((0, 0, 1, 1))
    table = dataclasses.replace(
        links, counts=np.full(len(links.link), 10.0), standard_error=np.full(len(links.link), 1.0)
    )
    table.standard_error[0] = 30.0
    draw_noise(axes, table)
    percent = [bar.get_width() for bar in axes.containers[0]]
    few = 100 / len(links.link)
    assert percent == pytest.approx([0, 100 - few, 0, 0, few])


def test_periods_are_shown_with_the_sum_of_their_counts(fast_links: LinkTable) -> None:
    axes = Figure().add_axes((0, 0, 1, 1))
    draw_hours(axes, fast_links)
    bars = [bar.get_height() for bar in axes.containers[0]]
    assert bars == pytest.approx(
        [fast_links.counts[fast_links.period == i].sum() for i in range(4)]
    )
    assert [text.get_text() for text in axes.get_xticklabels()][:2] == ["00:00", "06:00"]


def test_every_busy_street_is_named_once(links: LinkTable) -> None:
    rows = busiest_rows(links)
    assert rows[0] == links.counts.argmax()
    assert len(rows) == 6
    assert np.all(np.diff(links.counts[rows]) <= 0)
    names = [street_name(links, link) for link in links.link[rows].tolist()]
    assert len(set(names)) == 6


def test_long_names_are_cut(links: LinkTable) -> None:
    roads = links.universe.roads
    names = np.array(["x" * 90, "Avenida " * 9, *roads.name[2:].tolist()])
    universe = dataclasses.replace(links.universe, roads=dataclasses.replace(roads, name=names))
    table = dataclasses.replace(links, universe=universe)
    assert street_name(table, 0) == "x" * 25 + "…"
    assert street_name(table, 1) == "Avenida Avenida Avenida A…"

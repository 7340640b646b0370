"""Names stand beside their spots, and are left out where there is no room."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hushway.transit.picture.labels import Box, Labels, Words

FRAME = Box(0.0, 0.0, 1000.0, 1000.0)


def empty_map() -> tuple[Figure, Labels]:
    figure = Figure(figsize=(10, 10), dpi=100)
    FigureCanvasAgg(figure)
    return figure, Labels(figure, FRAME, np.zeros((0, 2)))


def name(text: str) -> list[Words]:
    return [Words(text=text, size=10, colour="black")]


def test_a_name_with_room_is_written() -> None:
    figure, labels = empty_map()
    labels.around(np.array([500.0, 500.0]), name("Here"), gap=5)
    assert [text.get_text() for text in figure.texts] == ["Here"]


def test_a_name_without_room_is_left_out() -> None:
    figure, labels = empty_map()
    labels.keep_clear(Box(400.0, 400.0, 600.0, 600.0))
    labels.around(np.array([500.0, 500.0]), name("Hidden"), gap=5)
    assert not figure.texts


def test_of_many_names_at_one_spot_some_stay_and_none_covers_another() -> None:
    figure, labels = empty_map()
    for number in range(30):
        labels.around(np.array([500.0, 500.0]), name(f"Number {number}"), gap=5)
    assert 4 <= len(figure.texts) < 30
    boxes = [text.get_window_extent() for text in figure.texts]
    for at, one in enumerate(boxes):
        for other in boxes[:at]:
            across = min(one.x1, other.x1) - max(one.x0, other.x0)
            up = min(one.y1, other.y1) - max(one.y0, other.y0)
            assert max(0.0, across) * max(0.0, up) < 0.35 * one.width * one.height

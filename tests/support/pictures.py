"""Compares screenshots as somebody does from across the room: what is where, not which pixel."""

from pathlib import Path

import matplotlib.image
import numpy as np
from numpy.typing import NDArray

# Tiles across and down; fonts of another machine move letters within them.
_TILES = (24, 16)
_SEEN = 0.02


def apart(one: Path, other: Path) -> float:
    """Returns which share of the tiles of two pictures are not as light as each other."""
    return float((np.abs(_tiles(one) - _tiles(other)) > _SEEN).mean())


def _tiles(picture: Path) -> NDArray[np.float64]:
    grey = matplotlib.image.imread(picture)[:, :, :3].mean(axis=2)
    rows = [part.mean(axis=0) for part in np.array_split(grey, _TILES[1])]
    return np.array([[part.mean() for part in np.array_split(row, _TILES[0])] for row in rows])

"""Invented street names, laid over the city like a grid."""

from collections import Counter

import numpy as np

from hushway.arrays import FloatArray

_BLOCK_M = 125.0

# Birds for the streets that run north to south, stones and cloths for those that run east to west:
# made up for this city, so that nobody mistakes a synthetic stop for a real one.
_NORTH_SOUTH = (
    "Avocet",
    "Bittern",
    "Cormorant",
    "Curlew",
    "Dotterel",
    "Dunlin",
    "Egret",
    "Fieldfare",
    "Gannet",
    "Godwit",
    "Goshawk",
    "Grebe",
    "Harrier",
    "Hoopoe",
    "Ibis",
    "Jacana",
    "Kestrel",
    "Kittiwake",
    "Lapwing",
    "Linnet",
    "Merganser",
    "Merlin",
    "Nightjar",
    "Nuthatch",
    "Oriole",
    "Osprey",
    "Petrel",
    "Pipit",
    "Plover",
    "Ptarmigan",
    "Redstart",
    "Sanderling",
    "Shrike",
    "Siskin",
    "Tanager",
    "Turnstone",
    "Whimbrel",
    "Wryneck",
    "Yellowhammer",
    "Zosterops",
)
_EAST_WEST = (
    "Agate",
    "Basalt",
    "Beryl",
    "Calico",
    "Cambric",
    "Chalcedony",
    "Corduroy",
    "Damask",
    "Dimity",
    "Felspar",
    "Flannel",
    "Gabardine",
    "Garnet",
    "Gingham",
    "Gneiss",
    "Gypsum",
    "Hessian",
    "Jasper",
    "Lawn",
    "Malachite",
    "Moleskin",
    "Muslin",
    "Nankeen",
    "Obsidian",
    "Onyx",
    "Organdie",
    "Percale",
    "Poplin",
    "Porphyry",
    "Pumice",
    "Sateen",
    "Schist",
    "Seersucker",
    "Serge",
    "Serpentine",
    "Taffeta",
    "Tourmaline",
    "Travertine",
    "Tweed",
    "Velour",
)


def corner_names(position_m: FloatArray) -> list[str]:
    """Returns the name of the street corner nearest to each position, all different.

    Args:
        position_m: Metres east and north of the centre, one row a place.
    """
    blocks = np.round(position_m / _BLOCK_M).astype(np.int64)
    used: Counter[str] = Counter()
    names = []
    for east, north in blocks.tolist():
        avenue = _street(_NORTH_SOUTH, east, ("St", "Ln", "Ct", "Way"))
        road = _street(_EAST_WEST, north, ("Ave", "Rd", "Dr", "Pl"))
        name = f"{avenue} & {road}"
        used[name] += 1
        names.append(name if used[name] == 1 else f"{name} (stop {used[name]})")
    return names


def _street(words: tuple[str, ...], block: int, kinds: tuple[str, ...]) -> str:
    around, word = divmod(block, len(words))
    return f"{words[word]} {kinds[around % len(kinds)]}"

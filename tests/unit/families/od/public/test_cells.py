from datetime import date

import numpy as np
import pytest

from hushway.errors import GeographyError
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Location, Locations
from support.windows import window


def cells(places: int, *, include_intrazonal: bool, minutes: int = 480) -> ODCells:
    return ODCells(
        locations=Locations(
            tuple(
                Location(id=f"p{i}", name="", lon=i / 100, lat=0.0, zone="") for i in range(places)
            )
        ),
        periods=window(date(2026, 1, 1), minutes=minutes),
        include_intrazonal=include_intrazonal,
    )


@pytest.mark.parametrize("include_intrazonal", [False, True])
@pytest.mark.parametrize("places", [2, 3, 7])
def test_encoding_numbers_every_cell_once_without_gaps(
    places: int, include_intrazonal: bool
) -> None:
    universe = cells(places, include_intrazonal=include_intrazonal)
    triples = [
        (t, o, d)
        for t in range(3)
        for o in range(places)
        for d in range(places)
        if include_intrazonal or o != d
    ]
    period, origin, destination = (np.array(column) for column in zip(*triples, strict=True))
    numbers = universe.encode(period, origin, destination)
    assert universe.size == len(triples)
    assert numbers.tolist() == list(range(len(triples)))


@pytest.mark.parametrize("include_intrazonal", [False, True])
def test_decoding_undoes_encoding(include_intrazonal: bool) -> None:
    universe = cells(5, include_intrazonal=include_intrazonal)
    numbers = np.arange(universe.size, dtype=np.int64)
    period, origin, destination = universe.decode(numbers)
    assert universe.encode(period, origin, destination).tolist() == numbers.tolist()
    assert period.max() == 2
    assert origin.max() == destination.max() == 4
    assert include_intrazonal or (origin != destination).all()


def test_one_place_has_cells_only_with_itself() -> None:
    assert cells(1, include_intrazonal=True).size == 3
    with pytest.raises(GeographyError, match="no cells"):
        cells(1, include_intrazonal=False)


def test_numbers_beyond_32_bits_are_exact() -> None:
    universe = cells(3_000, include_intrazonal=False, minutes=2)
    assert universe.size > 2**32
    last = np.array([universe.size - 1], dtype=np.int64)
    period, origin, destination = universe.decode(last)
    assert (period[0], origin[0], destination[0]) == (719, 2_999, 2_998)
    assert universe.encode(period, origin, destination).tolist() == last.tolist()


def test_the_digest_tells_universes_apart() -> None:
    digests = {
        cells(2, include_intrazonal=True).digest,
        cells(2, include_intrazonal=False).digest,
        cells(3, include_intrazonal=False).digest,
        cells(3, include_intrazonal=False, minutes=60).digest,
    }
    assert len(digests) == 4

import numpy as np
import pytest

from hushway.engine.key import PRIME, SUM_MASK, BoundingKey
from hushway.errors import PrivacyError
from hushway.privacy.randomness import os_source

LARGEST = BoundingKey((PRIME - 1,) * BoundingKey.WORDS)


def by_hand(key: BoundingKey, since_us: int, origin: int, destination: int) -> int:
    """The same polynomial with Python's integers, which do not overflow."""
    a, b, c, d, *rest = key.coefficients
    low, high = since_us % 2**30, since_us // 2**30 % 2**31
    mixed = (a * low + b * high + c * origin + d * destination) % PRIME
    polynomial = rest[:-2]
    return sum(k * mixed**i for i, k in enumerate(reversed(polynomial))) % PRIME


@pytest.mark.parametrize("since_us", [0, 1, 2**30 - 1, 2**30, 10**15, 2**61 - 1])
@pytest.mark.parametrize("place", [0, 1, 1302, 2**31 - 2])
def test_the_arithmetic_never_overflows(since_us: int, place: int) -> None:
    for key in (LARGEST, BoundingKey.from_words(range(10**18, 10**18 + BoundingKey.WORDS))):
        time, origin, destination = (np.array([v]) for v in (since_us, place, place))
        with np.errstate(all="raise"):
            found = key.place(key.mixed(time, origin, destination))
        assert found.tolist() == [by_hand(key, since_us, place, place)]


def test_the_start_is_never_negative_and_never_overflows() -> None:
    totals = np.array([0, 1, SUM_MASK])
    slope, shift = LARGEST.coefficients[-2:]
    assert LARGEST.turn(totals).tolist() == [(t * slope + shift) % PRIME for t in totals.tolist()]


def test_text_brings_back_the_key(key: BoundingKey) -> None:
    assert BoundingKey.from_text(key.to_text()) == key
    assert BoundingKey.from_text(LARGEST.to_text()) == LARGEST


def test_bytes_and_words_make_the_same_key() -> None:
    words = [3, 2**64 - 1, *range(BoundingKey.WORDS - 2)]
    data = b"".join(word.to_bytes(8, "little") for word in words)
    assert BoundingKey.from_bytes(data) == BoundingKey.from_words(words)


def test_two_draws_differ() -> None:
    assert BoundingKey.draw(os_source()) != BoundingKey.draw(os_source())


def test_a_key_does_not_show_itself(key: BoundingKey) -> None:
    shown = f"{key!r} {key}"
    assert not any(str(coefficient) in shown for coefficient in key.coefficients)


@pytest.mark.parametrize(
    "text",
    ["", "poly31:", "poly31:0", "poly30:" + "00000001" * BoundingKey.WORDS, "poly31:" + "x" * 96],
)
def test_a_text_that_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(PrivacyError, match="bounding key"):
        BoundingKey.from_text(text)


@pytest.mark.parametrize(
    "coefficients",
    [(), (1,), (0,) * BoundingKey.WORDS, (PRIME,) * BoundingKey.WORDS, (1.0,) * BoundingKey.WORDS],
)
def test_coefficients_outside_the_field_are_refused(coefficients: tuple[int, ...]) -> None:
    with pytest.raises(PrivacyError, match="bounding key"):
        BoundingKey(coefficients)

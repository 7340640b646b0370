"""What holds for every scale, threshold and window."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.privacy.noise.exponential import uniform_below
from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.grouped_draws import binomial, uniform_subsets
from hushway.privacy.noise.inversion import (
    InversionTable,
    NoiseLaw,
    Uniform,
    between,
    exp_enclosure,
)
from hushway.privacy.noise.laplace import DiscreteLaplace, _Magnitude, exactly, floor_of
from hushway.privacy.noise.lazy import LazyVector
from hushway.privacy.randomness import SeededSource

scales = st.fractions(min_value=Fraction(1, 100), max_value=500, max_denominator=1000)
wide_scales = st.fractions(min_value=Fraction(1, 100), max_value=10**7, max_denominator=1000)
seeds = st.integers(0, 10**6)
places = st.integers(-(10**5), 10**5)


@st.composite
def laws(draw: st.DrawFn) -> NoiseLaw:
    if draw(st.booleans()):
        return DiscreteLaplace(draw(wide_scales))
    return DiscreteGaussian(draw(scales) ** 2)


@settings(max_examples=60, deadline=None)
@given(law=laws(), low=places, width=st.one_of(st.none(), st.integers(1, 10**5)), seed=seeds)
def test_noise_given_a_window_stays_inside_it(
    law: NoiseLaw, low: int, width: int | None, seed: int
) -> None:
    high = None if width is None else low + width
    draws = law.draw_between(SeededSource(seed), 20, low, high)
    assert (draws >= low).all()
    assert high is None or (draws < high).all()


@settings(max_examples=60, deadline=None)
@given(law=laws(), threshold=places, step=st.integers(0, 1000))
def test_mass_above_a_threshold_falls_as_it_rises_and_windows_add_up(
    law: NoiseLaw, threshold: int, step: int
) -> None:
    bits = 200
    low, high = law.mass_from(threshold, bits)
    low_next, high_next = law.mass_from(threshold + step, bits)
    inside = between(law, threshold, threshold + step, bits)
    assert low_next <= high
    assert low - high_next <= inside[1]
    assert inside[0] <= high - low_next
    assert 0 <= low <= high <= 1 << bits


@settings(max_examples=40, deadline=None)
@given(law=laws(), threshold=places)
def test_more_bits_only_narrow_an_enclosure(law: NoiseLaw, threshold: int) -> None:
    rough, fine = law.mass_from(threshold, 100), law.mass_from(threshold, 400)
    assert rough[0] << 300 <= fine[1]
    assert fine[0] <= rough[1] << 300
    assert fine[1] - fine[0] < 1 << 64


@settings(max_examples=200, deadline=None)
@given(exponent=st.fractions(min_value=0, max_value=10**6), bits=st.integers(63, 400))
def test_exponentials_multiply(exponent: Fraction, bits: int) -> None:
    half_low, half_high = exp_enclosure(exponent / 2, bits)
    low, high = exp_enclosure(exponent, bits)
    assert half_low**2 >> bits <= high
    assert low <= -(-(half_high**2) >> bits)


@settings(max_examples=100, deadline=None)
@given(
    chance=st.fractions(min_value=0, max_value=1),
    word=st.integers(0, (1 << 63) - 1),
    seed=seeds,
)
def test_a_uniform_number_is_below_a_fraction_exactly_when_its_bits_say_so(
    chance: Fraction, word: int, seed: int
) -> None:
    threshold = floor_of(exactly(chance))
    assert threshold == (chance.numerator << 63) // chance.denominator
    below = Uniform(word, 63, SeededSource(seed)).below(exactly(chance))
    if word != threshold:
        assert below == (word < threshold)
    else:
        more = int(SeededSource(seed).words(1)[0])
        beginning = Fraction(word << 64 | more, 1 << 127)
        if beginning > chance or beginning + Fraction(1, 1 << 127) <= chance:
            assert below == (beginning < chance)


@settings(max_examples=30, deadline=None)
@given(scale=st.fractions(Fraction(1, 100), 60, max_denominator=100), seed=seeds)
def test_guide_and_search_agree(scale: Fraction, seed: int) -> None:
    table = InversionTable(_Magnitude(scale))
    words = SeededSource(seed).words(2000) >> np.uint64(1)
    found = table.invert(words, SeededSource(1))
    assert found.tolist() == np.searchsorted(table.thresholds, words, side="right").tolist()


@settings(max_examples=100, deadline=None)
@given(seed=seeds, limit=st.integers(1, 1 << 63))
def test_uniform_numbers_stay_below_their_limit(seed: int, limit: int) -> None:
    assert all(
        0 <= value < limit for value in uniform_below(SeededSource(seed), 50, limit).tolist()
    )


@settings(max_examples=100, deadline=None)
@given(seed=seeds, universe=st.integers(0, 300), data=st.data())
def test_subsets_are_ascending_and_of_the_asked_size(
    seed: int, universe: int, data: st.DataObject
) -> None:
    count = data.draw(st.integers(0, universe))
    subset = uniform_subsets(SeededSource(seed), [count], [universe])
    assert len(subset) == count
    assert (np.diff(subset) > 0).all()
    assert not count or 0 <= subset[0] <= subset[-1] < universe


@settings(max_examples=60, deadline=None)
@given(
    seed=seeds,
    trials=st.integers(0, 500),
    chance=st.fractions(min_value=0, max_value=1, max_denominator=10**6),
)
def test_successes_are_between_none_and_all(seed: int, trials: int, chance: Fraction) -> None:
    assert 0 <= binomial(SeededSource(seed), trials, exactly(chance)) <= trials


@settings(max_examples=40, deadline=None)
@given(law=laws(), seed=seeds, looks=st.lists(st.integers(-400, 400), min_size=1, max_size=4))
def test_a_lazy_vector_is_one_vector_however_it_is_looked_at(
    law: NoiseLaw, seed: int, looks: list[int]
) -> None:
    cells, counts = np.array([2, 7, 8]), np.array([10, 300, 1])
    seen = LazyVector(law=law, size=40, cells=cells, counts=counts, source=SeededSource(seed))
    views = [(look, seen.reveal(look)) for look in looks]
    final = seen.reveal(min(looks))
    whole = dict(zip(final.cells.tolist(), final.values.tolist(), strict=True))
    for look, view in views:
        expected = {cell: value for cell, value in whole.items() if value >= look}
        assert dict(zip(view.cells.tolist(), view.values.tolist(), strict=True)) == expected

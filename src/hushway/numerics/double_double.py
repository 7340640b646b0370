"""Double-double arithmetic: a number is the exact sum of two doubles, about 106 bits.

Multipliers of nested margins can be ten million times larger than the shifts they add up to, so a
certificate in plain doubles would mostly measure its own rounding. The algorithms are the textbook
ones (Dekker 1971, Knuth); every function has a relative error below 2^-102.
"""

from hushway.arrays import FloatArray
from hushway.numerics.compiled import compiled

Doubled = tuple[float, float]

_SPLITTER = 134217729.0  # 2^27 + 1 cuts a double into two halves of 26 bits


@compiled
def exact_sum(a: float, b: float) -> Doubled:
    """Returns a + b rounded, and what rounding lost."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@compiled
def exact_product(a: float, b: float) -> Doubled:
    """Returns a * b rounded, and what rounding lost."""
    product = a * b
    scaled = _SPLITTER * a
    a_high = scaled - (scaled - a)
    a_low = a - a_high
    scaled = _SPLITTER * b
    b_high = scaled - (scaled - b)
    b_low = b - b_high
    lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, lost


@compiled
def add(a_high: float, a_low: float, b_high: float, b_low: float) -> Doubled:
    """Returns the sum of two numbers."""
    high, high_lost = exact_sum(a_high, b_high)
    low, low_lost = exact_sum(a_low, b_low)
    high, high_lost = exact_sum(high, high_lost + low)
    return exact_sum(high, high_lost + low_lost)


@compiled
def times(a_high: float, a_low: float, b: float) -> Doubled:
    """Returns a number times a double."""
    product, lost = exact_product(a_high, b)
    return exact_sum(product, lost + a_low * b)


@compiled
def over(a_high: float, a_low: float, b: float) -> Doubled:
    """Returns a number divided by a double."""
    first = a_high / b
    product, lost = exact_product(first, b)
    rest_high, rest_low = add(a_high, a_low, -product, -lost)
    return exact_sum(first, (rest_high + rest_low) / b)


@compiled
def of_integer(value: int) -> Doubled:
    """Returns a 64-bit integer, exactly."""
    high = float(value)
    return high, float(value - int(high))


# Inner products on one thread.
#
# The usual library would start threads for every long product, and wait for them: with thousands of
# short products on a busy machine that takes far longer than the sums.


@compiled
def dot(a: FloatArray, b: FloatArray) -> float:
    """Returns the sum of the products, in four interleaved sums."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    whole = len(a) - len(a) % 4
    for i in range(0, whole, 4):
        first += a[i] * b[i]
        second += a[i + 1] * b[i + 1]
        third += a[i + 2] * b[i + 2]
        fourth += a[i + 3] * b[i + 3]
    for i in range(whole, len(a)):
        first += a[i] * b[i]
    return (first + second) + (third + fourth)

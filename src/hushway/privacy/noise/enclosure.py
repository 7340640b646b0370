"""Certified enclosures of irrational probabilities, as whole numbers.

A probability p is held as a pair (low, high) of integers with low <= 2^bits * p <= high. Everything
a sampler compares random bits with comes from such a pair, so no law of hushway contains a float.
"""

import math
import os
import threading
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import count
from typing import Any

from mpmath import libmp
from mpmath.ctx_iv import MPIntervalContext

Enclosure = tuple[int, int]
Probability = Callable[[int], Enclosure]
"""A number in [0, 1] that can be enclosed to any number of bits."""

_GUARD_BITS = 32

# mpmath keeps constants such as ln 2 and their precision in two variables, one after the other: a
# second thread that looks in between computes with a constant shifted by many bits. A fork in
# between would leave that to the child for good.
_MPMATH = threading.RLock()
os.register_at_fork(
    before=_MPMATH.acquire, after_in_parent=_MPMATH.release, after_in_child=_MPMATH.release
)


@lru_cache(maxsize=1024)
def exp_enclosure(exponent: Fraction, bits: int) -> Enclosure:
    """Encloses 2^bits * exp(-exponent) for an exponent >= 0."""
    if exponent == 0:
        return 1 << bits, 1 << bits
    context = _context(bits + _GUARD_BITS + int(exponent).bit_length())
    with _MPMATH:
        ratio = context.mpf(exponent.numerator) / context.mpf(exponent.denominator)
        low, high = _scaled(context.exp(-ratio), bits)
    return max(low, 0), min(high, 1 << bits)


def log_binomial_mass(trials: int, successes: int, chance: Enclosure, bits: int) -> Any:
    """Encloses ln P(Binomial = successes); `chance` must lie strictly inside (0, 1)."""
    context = _context(bits + 2 * trials.bit_length() + _GUARD_BITS)
    low, high = chance
    failures = trials - successes
    with _MPMATH:
        unit = context.mpf(1 << bits)
        p = context.mpf([context.mpf(low) / unit, context.mpf(high) / unit])
        log_choose = (
            _log_factorial(context, trials)
            - _log_factorial(context, successes)
            - _log_factorial(context, failures)
        )
        return log_choose + successes * context.ln(p) + failures * context.ln(1 - p)


def exp_of_interval(interval: Any, bits: int) -> Enclosure:
    """Encloses 2^bits * exp(interval) for an mpmath interval below 0."""
    with _MPMATH:
        low, high = _scaled(interval.ctx.exp(interval), bits)
    return max(low, 0), high


def _log_factorial(context: Any, n: int) -> Any:
    """Encloses ln n!, for large n by Stirling's series: its error is between 0 and the next term.

    The terms shrink down to about exp(-2 pi n), which beyond a quarter of the precision is far
    below what the precision can show: the enclosure gets as narrow as anyone asks.
    """
    if 4 * n <= context.prec:
        return context.ln(context.mpf(math.factorial(n)))
    x = context.mpf(n)
    series = (x + context.mpf(1) / 2) * context.ln(x) - x + context.ln(2 * context.pi) / 2
    power = x
    for k in count(1):
        numerator, denominator = libmp.bernfrac(2 * k)
        term = context.mpf(numerator) / (context.mpf(denominator) * (2 * k) * (2 * k - 1) * power)
        if abs(term).b < context.mpf(2) ** (-context.prec):
            return series + context.mpf([0, 1]) * term
        series += term
        power *= x * x
    raise AssertionError  # pragma: no cover  the loop only ends by returning


@lru_cache(maxsize=512)
def _context(precision: int) -> Any:
    """Returns the interval context of a precision, which nobody else can change."""
    context = MPIntervalContext()
    context.prec = precision
    return context


def _scaled(interval: Any, bits: int) -> Enclosure:
    """Turns an interval into whole numbers, each end one unit wider than mpmath says."""
    low, high = interval._mpi_
    floor = int(libmp.to_int(libmp.mpf_shift(low, bits), libmp.round_floor))
    ceiling = int(libmp.to_int(libmp.mpf_shift(high, bits), libmp.round_ceiling))
    return floor - 1, ceiling + 1

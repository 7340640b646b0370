"""How many empty cells will show: forecasts from public numbers, never part of a draw."""

from fractions import Fraction

from hushway.errors import PrivacyError
from hushway.privacy.noise.inversion import NoiseLaw

# Far above what 256 bits can tell from nothing, where a search for the threshold would not end.
_LEAST_EXPECTED = 1e-70


def expected_above(law: NoiseLaw, size: int, threshold: int) -> float:
    """Returns the expected number of empty cells that reach a threshold, for forecasts."""
    bits = 256
    low, high = law.mass_from(threshold, bits)
    return float(size * Fraction(low + high, 1 << (bits + 1)))


def threshold_for(law: NoiseLaw, size: int, expected: float) -> int:
    """Returns the lowest threshold above 0 that at most `expected` empty cells reach on average."""
    if not expected >= _LEAST_EXPECTED:
        raise PrivacyError(
            f"The expected number of false cells must be at least {_LEAST_EXPECTED:g}.",
            advice="Choose for example 100: so many cells without any trip will appear by chance.",
        )
    low, high = 0, 1
    while expected_above(law, size, high) > expected:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if expected_above(law, size, middle) > expected:
            low = middle
        else:
            high = middle
    return high

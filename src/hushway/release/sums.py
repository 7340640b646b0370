"""Sums of published counts, with the noise that they carry."""

from dataclasses import dataclass

from hushway.arrays import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class Sums:
    """Sums of published counts by some key.

    Attributes:
        keys: What was summed over, ascending.
        totals: Sum of the counts of each.
        standard_errors: Standard deviation of the noise in each sum, if cells err independently.
    """

    keys: IntArray
    totals: FloatArray
    standard_errors: FloatArray

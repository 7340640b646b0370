"""Inner products on one thread.

The usual library would start threads for every long product, and wait for them: with thousands of
short products on a busy machine that takes far longer than the sums.
"""

from hushway.arrays import FloatArray
from hushway.numerics.compiled import compiled


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

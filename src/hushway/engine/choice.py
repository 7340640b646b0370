"""Who is kept: the order in which hashes put rows."""

from hushway.arrays import IntArray
from hushway.engine.key import PRIME
from hushway.numerics.compiled import compiled_for_threads

_LOW_BITS = (1 << 30) - 1


@compiled_for_threads
def placed(salt: int, what: int, kind: int, key: IntArray) -> int:
    """Returns `key.place(key.mixed(salt, what, kind))`: a number from 0 to 2^31 - 2."""
    mixed = ((salt & _LOW_BITS) * key[0] + ((salt >> 30) & PRIME) * key[1]) % PRIME
    mixed = (mixed + (what * key[2] + kind * key[3]) % PRIME) % PRIME
    value = mixed * key[4] + key[5]
    for i in range(6, 10):
        value = value % PRIME * mixed + key[i]
    return int(value % PRIME)

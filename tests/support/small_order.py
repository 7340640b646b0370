"""Public keys under which anybody can sign: the points of small order of Ed25519, written anyhow.

Computed here from the equation of the curve, -x² + y² = 1 + d x² y², and not copied from the code
that refuses them.
"""

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P

Point = tuple[int, int]


def root(square: int) -> int | None:
    """Returns a square root in the field, if there is one."""
    found = pow(square, (P + 3) // 8, P)
    if (found * found - square) % P:
        found = found * pow(2, (P - 1) // 4, P) % P
    return None if (found * found - square) % P else found


def added(one: Point, other: Point) -> Point:
    """Returns the sum of two points."""
    (x1, y1), (x2, y2) = one, other
    both = D * x1 * x2 * y1 * y2
    x = (x1 * y2 + x2 * y1) * pow(1 + both, -1, P)
    y = (y1 * y2 + x1 * x2) * pow(1 - both, -1, P)
    return x % P, y % P


def times_8(point: Point) -> Point:
    """Returns a point doubled three times."""
    for _ in range(3):
        point = added(point, point)
    return point


def decoded(raw: bytes) -> Point | None:
    """Returns the point that bytes stand for, taking heights beyond the field too."""
    number = int.from_bytes(raw, "little")
    y = (number & (2**255 - 1)) % P
    x = root((y * y - 1) * pow(D * y * y + 1, -1, P) % P)
    if x is None:
        return None
    return (P - x if x % 2 != number >> 255 else x) % P, y


def _torsion() -> list[Point]:
    """Returns the eight points that are nothing when doubled three times."""
    # Multiples of any point by the large prime order are of small order; one of them has order 8.
    order = 2**252 + 27742317777372353535851937790883648493
    for y in range(2, 100):
        x = root((y * y - 1) * pow(D * y * y + 1, -1, P) % P)
        if x is None:
            continue
        result, power, left = (0, 1), (x, y), order
        while left:
            if left & 1:
                result = added(result, power)
            power, left = added(power, power), left >> 1
        found = [(0, 1)]
        while (further := added(found[-1], result)) != (0, 1):
            found.append(further)
        if len(found) == 8:
            return found
    raise AssertionError


POINTS = _torsion()
WEAK_KEYS = sorted(
    {
        (height | sign << 255).to_bytes(32, "little")
        for _, y in POINTS
        for height in (y, y + P)
        if height < 2**255
        for sign in (0, 1)
    }
)

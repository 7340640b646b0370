"""How large a delta may be before somebody must say that it is meant.

A delta is the chance that epsilon bounds nothing. A mechanism that publishes everything about one
person in a thousand satisfies a delta of 1/1000, whatever its epsilon: so a delta must be below one
over the number of people, and is usually far below.
"""

from fractions import Fraction

USUAL_DELTA = Fraction(1, 100_000)
LARGE_DELTA = "LARGE DELTA"


def usual_delta(people: int | None) -> Fraction:
    """Returns the largest delta that needs no explicit choice.

    Args:
        people: How many people the data may be about, as far as that is public and stated.
    """
    return USUAL_DELTA if people is None else min(USUAL_DELTA, Fraction(1, people))


def is_large(delta: Fraction, people: int | None) -> bool:
    """Whether a delta must be chosen explicitly, and be shown loudly."""
    return delta > usual_delta(people)

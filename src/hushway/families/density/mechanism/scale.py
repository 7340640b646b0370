"""How many visits there are for each that the series counts."""

from hushway.families.density.mechanism.answers import Answers


def scale_of(answers: Answers, counted: float) -> float:
    """Returns all visits as a multiple of those that the series counts.

    The series counts a part of all visits, so the multiple is at least 1, whatever the noise says.
    What is beyond 1 is trusted by as much as it stands out from the noise in the number of all
    visits: a small crowd would otherwise be scaled by noise.

    Args:
        answers: What was measured.
        counted: Visits that the series counts.
    """
    if answers.total is None:
        return 1.0
    beyond = max(float(answers.total.values[0]) / max(counted, 1.0) - 1, 0.0)
    noise = answers.total.variance / max(counted, 1.0) ** 2
    return 1 + beyond * beyond**2 / (beyond**2 + noise)


def doubt_of(answers: Answers, visits: float) -> float:
    """Returns the variance of the number of all visits, relative to its square."""
    if answers.total is None:
        return 0.0
    return answers.total.variance / max(visits, 1.0) ** 2

"""What an audit says in the end."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The verdict of one audit, in plain numbers and sentences.

    Attributes:
        name: What was audited.
        epsilon: The claimed epsilon.
        delta: The claimed delta.
        epsilon_lower: The epsilon that the runs prove; the true one is at least this. 0 for a check
            of the noise's law, which proves none.
        runs: Runs on each side.
        event: What was looked at, and what was seen.
        passed: Whether the runs agree with the claim.
        reason: Why it passed or failed, as a sentence.
    """

    name: str
    epsilon: float
    delta: float
    epsilon_lower: float
    runs: int
    event: str
    passed: bool
    reason: str


@dataclass(frozen=True, kw_only=True)
class MutantFinding:
    """Whether a planted mistake was caught.

    Attributes:
        name: The mistake, in words.
        epsilon: The epsilon that the mutant still claims.
        caught: Whether an audit failed, as it should.
        by: The audits that failed, separated by semicolons.
        epsilon_lower: The largest epsilon that they prove; 0 if only the noise's law gave the
            mutant away.
    """

    name: str
    epsilon: float
    caught: bool
    by: str
    epsilon_lower: float

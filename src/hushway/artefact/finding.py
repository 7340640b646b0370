"""What a verification found."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from hushway.errors import HushwayError

T = TypeVar("T")

RANDOMNESS = "randomness"


class Result(StrEnum):
    """The outcome of a verification."""

    VERIFIED = "verified"
    NOT_PRIVATE = "not private"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was checked.

    Attributes:
        name: What was checked, in a word or two.
        passed: Whether it holds.
        sentence: What was found.
    """

    name: str
    passed: bool
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Verification:
    """Everything that was checked about a release."""

    checks: tuple[Check, ...]

    @property
    def result(self) -> Result:
        """Verified; intact but without any privacy; or failed."""
        failed = {check.name for check in self.checks if not check.passed}
        if not failed:
            return Result.VERIFIED
        return Result.NOT_PRIVATE if failed == {RANDOMNESS} else Result.FAILED

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return self.result is Result.VERIFIED

    @property
    def intact(self) -> bool:
        """Whether the release is as it was written, private or not."""
        return self.result is not Result.FAILED


@dataclass
class Notes:
    """Collects checks while a verification is under way."""

    checks: list[Check] = field(default_factory=list)

    def attempt(self, name: str, question: Callable[[], tuple[T, str]]) -> T | None:
        """Notes whether a question could be answered.

        Args:
            name: What is checked.
            question: Returns an answer and a sentence about it, or raises.

        Returns:
            The answer, or None when the check failed.
        """
        try:
            answer, sentence = question()
        except HushwayError as problem:
            self.checks.append(Check(name=name, passed=False, sentence=str(problem)))
        except Exception as problem:  # noqa: BLE001 - a hostile folder must not stop its verifier
            kind = type(problem).__name__
            sentence = f"This could not be checked: a file is not as hushway writes it ({kind})."
            self.checks.append(Check(name=name, passed=False, sentence=sentence))
        else:
            self.checks.append(Check(name=name, passed=True, sentence=sentence))
            return answer
        return None

    def verification(self) -> Verification:
        """Returns everything noted so far."""
        return Verification(checks=tuple(self.checks))

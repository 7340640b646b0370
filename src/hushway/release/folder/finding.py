"""What a verification found."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from hushway.errors import HushwayError
from hushway.escaping import visible
from hushway.release.folder.subject import Subject, signature_warning

T = TypeVar("T")

RANDOMNESS = "randomness"
SIGNATURE = "signature"


class Result(StrEnum):
    """The outcome of a verification.

    Attributes:
        VERIFIED: It adds up, and is signed by the key that was given.
        SIGNED: It adds up, and is signed by a key that nobody has vouched for.
        UNSIGNED: It adds up, and nobody answers for it.
        NOT_PRIVATE: It adds up, and protects nobody.
        FAILED: It does not add up.
    """

    VERIFIED = "verified"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    NOT_PRIVATE = "not private"
    FAILED = "failed"


class Outcome(StrEnum):
    """What became of one check: it holds, there was nothing to check, or it does not hold."""

    PASSED = "passed"
    ABSENT = "absent"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was checked.

    Attributes:
        name: What was checked, in a word or two.
        outcome: Whether it holds.
        sentence: What was found, safe to print: names of strangers are made visible.
    """

    name: str
    outcome: Outcome
    sentence: str

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against the release here."""
        return self.outcome is not Outcome.FAILED


@dataclass(frozen=True, kw_only=True)
class Verification:
    """Everything that was checked about a release.

    Attributes:
        checks: What was checked.
        key_given: Whether the publisher's key was known.
        subject: Which release it is; None when its seal, files or signature do not hold, or its
            certificate cannot be read.
        checked_by: Name and version of the package that brings the release type and checked its
            files; None if that is hushway itself.
    """

    checks: tuple[Check, ...]
    key_given: bool = False
    subject: Subject | None = None
    checked_by: str | None = None

    @property
    def result(self) -> Result:
        """All checks in one word."""
        failed = {check.name for check in self.checks if not check.passed}
        if failed:
            return Result.NOT_PRIVATE if failed == {RANDOMNESS} else Result.FAILED
        absent = {check.name for check in self.checks if check.outcome is Outcome.ABSENT}
        if SIGNATURE in absent:
            return Result.UNSIGNED
        return Result.VERIFIED if self.key_given else Result.SIGNED

    @property
    def passed(self) -> bool:
        """Whether everything adds up; who answers for it is another question."""
        return self.intact and self.result is not Result.NOT_PRIVATE

    @property
    def warning(self) -> str | None:
        """What a reader must know about a release that adds up: who answers for it is open."""
        if self.subject is None or self.key_given or not self.intact:
            return None
        return signature_warning(self.subject.signer)

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
            self._note(name, Outcome.FAILED, str(problem))
        except MemoryError:
            sentence = "This takes more memory than a verification may have, so it was given up."
            self._note(name, Outcome.FAILED, sentence)
        except Exception as problem:  # noqa: BLE001 - a hostile folder must not stop its verifier
            kind = type(problem).__name__
            sentence = f"This could not be checked: a file is not as hushway writes it ({kind})."
            self._note(name, Outcome.FAILED, sentence)
        else:
            self._note(name, Outcome.PASSED, sentence)
            return answer
        return None

    def holds(self, name: str, check: Callable[[], None], sentence: str) -> None:
        """Notes, by a sentence, that something holds, unless the check refuses it."""

        def checked() -> tuple[bool, str]:
            check()
            return True, sentence

        self.attempt(name, checked)

    def absent(self, name: str, sentence: str) -> None:
        """Notes that there was nothing to check."""
        self._note(name, Outcome.ABSENT, sentence)

    def _note(self, name: str, outcome: Outcome, sentence: str) -> None:
        self.checks.append(Check(name=name, outcome=outcome, sentence=visible(sentence)))

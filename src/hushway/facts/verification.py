"""What a verification has found, as plain values: which release it is comes first."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hushway.release.folder.finding import Verification
    from hushway.release.folder.subject import Subject


def verification_facts(found: "Verification") -> dict[str, Any]:
    """Returns which release was verified, the result, what to beware of, and every check."""
    return {
        "release": None if found.subject is None else _subject_facts(found.subject),
        "result": str(found.result),
        "passed": found.passed,
        "warning": found.warning,
        "key_given": found.key_given,
        "checked_by": found.checked_by,
        "checks": [vars(check) for check in found.checks],
    }


def failed_facts(name: str, sentence: str) -> dict[str, Any]:
    """Returns the facts of a verification that came to no end."""
    return {
        "release": None,
        "result": "failed",
        "passed": False,
        "warning": None,
        "key_given": False,
        "checked_by": None,
        "checks": [{"name": name, "outcome": "failed", "sentence": sentence}],
    }


def _subject_facts(subject: "Subject") -> dict[str, Any]:
    signer = subject.signer
    return {
        "title": subject.title,
        "id": subject.release_id,
        "release_type": subject.release_type,
        "dataset": subject.dataset,
        "account_period": subject.account_period,
        "window": subject.window,
        "unit": subject.unit,
        "created_at": subject.created_at,
        "publisher": subject.publisher,
        "signed_by": None
        if signer is None
        else {"fingerprint": signer.fingerprint, "public_key": signer.raw.hex()},
        "certificate": subject.certificate,
    }

"""Releases that nobody should trust: whole, sealed, and written past the checks of the writer."""

import re
from pathlib import Path

import pytest

from hushway.errors import ReleaseError
from hushway.families.registry import contents_of
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.privacy.certificate import Certificate
from hushway.release.folder.finding import Verification


def forged_release(folder: Path, *, table: object, certificate: Certificate) -> Path:
    """Writes a release whose files all agree with each other and with its certificate.

    Whatever the certificate says, page, label, data package and seal say it too: a verifier can
    only find it out by computing the terms again. The picture, which no verifier can check, is
    left out.
    """
    contents = type(contents_of(table))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contents, "check", lambda *_: None)
        patch.setattr(contents, "picture", lambda *_: b"")
        for check in ("check_account", "check_epsilon_delta"):
            patch.setattr(Certificate, check, lambda *_: None)
        return write_release(folder, table=table, certificate=certificate)


def assert_contradiction(
    folder: Path, *, table: object, certificate: Certificate, words: str
) -> None:
    """Makes sure that a table and a certificate that contradict each other get nowhere.

    They are not written; and forged, they fail for this reason and no other.
    """
    with pytest.raises(ReleaseError, match=words):
        write_release(folder, table=table, certificate=certificate)
    assert not folder.exists()
    verification = verify(forged_release(folder, table=table, certificate=certificate))
    found = failed(verification)
    assert found == {"terms"}, found
    assert re.search(words, sentence(verification, "terms"))


def failed(verification: Verification) -> set[str]:
    """Returns the names of the checks that failed."""
    return {check.name for check in verification.checks if not check.passed}


def sentence(verification: Verification, name: str) -> str:
    """Returns what a check found."""
    (found,) = (check.sentence for check in verification.checks if check.name == name)
    return found

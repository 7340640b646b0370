"""The seal of a release: the size and digest of every file, and who sealed them.

`seal.json` names its signer, so that a signature cannot be taken off unnoticed. `seal.sig` holds
the signature over the bytes of `seal.json`.
"""

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hushway.errors import HushwayError, ReleaseError
from hushway.privacy.certificate import canonical_json, parsed_json
from hushway.privacy.signing import ALGORITHM, PublicKey, SigningKey

SEAL = "seal.json"
SIGNATURE = "seal.sig"
FORMAT = "hushway-seal"
VERSION = 1


@dataclass(frozen=True, kw_only=True)
class SealedFile:
    """One file under the seal."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Seal:
    """Every file of a release, and who sealed it.

    Attributes:
        files: The files other than the seal itself, by name.
        signer: The key whose signature must lie beside the seal; None when it is not signed.
    """

    files: tuple[SealedFile, ...]
    signer: PublicKey | None

    def to_json(self) -> bytes:
        """Returns the canonical bytes of seal.json."""
        return canonical_json(
            {
                "format": FORMAT,
                "version": VERSION,
                "signed_by": None if self.signer is None else self.signer.raw.hex(),
                "files": [
                    {"path": file.path, "bytes": file.size, "sha256": file.sha256}
                    for file in sorted(self.files, key=lambda file: file.path)
                ],
            }
        )

    @classmethod
    def from_json(cls, data: bytes) -> "Seal":
        """Reads a seal and refuses one that was edited.

        Raises:
            ReleaseError: The bytes are not a seal, or not the bytes `to_json` would write.
        """
        try:
            facts = parsed_json(data)
            signer = facts["signed_by"]
            seal = cls(
                files=tuple(_sealed_file(file) for file in facts["files"]),
                signer=None if signer is None else PublicKey(bytes.fromhex(signer)),
            )
            written = seal.to_json()
        except (HushwayError, ValueError, TypeError, LookupError, RecursionError):
            written = None
        if written != data:
            raise ReleaseError(
                f"{SEAL} is damaged or was edited.",
                advice="Ask the publisher for an intact copy of the release.",
            )
        return seal


def signature_json(key: SigningKey, seal: bytes) -> bytes:
    """Returns the bytes of seal.sig for the bytes of seal.json."""
    return _signature_json(key.public, key.sign(seal))


def check_signature(seal: bytes, signer: PublicKey, signature: bytes) -> None:
    """Checks the bytes of seal.sig against the bytes of seal.json.

    Raises:
        ReleaseError: They are not the signature of the signer.
    """
    try:
        mark = bytes.fromhex(parsed_json(signature)["signature"])
        genuine = _signature_json(signer, mark) == signature and signer.verifies(seal, mark)
    except (ValueError, TypeError, LookupError, RecursionError):
        genuine = False
    if not genuine:
        raise ReleaseError(
            f"{SIGNATURE} is not a signature of this seal by {signer.fingerprint}.",
            advice="Ask the publisher for an intact copy of the release.",
        )


def sealed_file(folder: Path, path: str) -> SealedFile:
    """Returns the size and digest of one file."""
    with (folder / path).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return SealedFile(path=path, size=file.tell(), sha256=digest)


def files_of(folder: Path) -> tuple[str, ...]:
    """Returns the names of all files under a folder, sorted, with forward slashes.

    Raises:
        ReleaseError: There is something else than files and folders with files in them.
    """
    names: list[str] = []
    for place, folders, files in os.walk(folder, onerror=_raise):
        inside = Path(place)
        empty = not folders and not files and inside != folder
        links = [name for name in folders if (inside / name).is_symlink()]
        odd = [name for name in files if not stat.S_ISREG((inside / name).lstat().st_mode)]
        if empty or links or odd:
            raise ReleaseError(
                "The folder holds a link, an empty folder or something else that is no file.",
                advice="A release consists of plain files only; take out what was added.",
            )
        names += [(inside / name).relative_to(folder).as_posix() for name in files]
    return tuple(sorted(names))


def _raise(problem: OSError) -> None:
    raise problem


def _signature_json(signer: PublicKey, mark: bytes) -> bytes:
    return canonical_json(
        {
            "algorithm": ALGORITHM,
            "public_key": signer.raw.hex(),
            "fingerprint": signer.fingerprint,
            "signature": mark.hex(),
        }
    )


def _sealed_file(facts: dict[str, Any]) -> SealedFile:
    path, size, sha256 = facts["path"], facts["bytes"], facts["sha256"]
    # 80.0 and true are written back as they are, and equal 80 and 1 when compared.
    if (type(path), type(size), type(sha256)) != (str, int, str):
        raise TypeError
    return SealedFile(path=path, size=size, sha256=sha256)

"""The seal of a release: the size and digest of every file, and who sealed them.

`seal.json` names its signer, so that a signature cannot be taken off unnoticed. `seal.sig` holds
the signature over the bytes of `seal.json`.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hushway.errors import ReleaseError, damaged
from hushway.privacy.certificate import canonical_json, parsed_json
from hushway.privacy.signing import ALGORITHM, PublicKey, SigningKey
from hushway.release.untrusted.limits import MOST_FILES, TABLE_BYTES, open_plain, refuse_odd

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

    @property
    def digest(self) -> str:
        """The digest that a ledger notes when the release is published.

        It binds every file, the certificate among them, and who signed. It begins otherwise than
        the digest of a certificate, which ledgers noted before.
        """
        return "seal-sha256:" + hashlib.sha256(self.to_json()).hexdigest()

    def names(self, path: str) -> bool:
        """Whether a file is sealed."""
        return any(file.path == path for file in self.files)

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
            ReleaseError: The bytes are not a seal, or not the bytes `to_json` would write; or a
                file is listed twice, or the signer's key is none that can be trusted.
        """
        try:
            facts = parsed_json(data)
            signer = facts["signed_by"]
            seal = cls(
                files=tuple(_sealed_file(file) for file in facts["files"]),
                signer=None if signer is None else PublicKey(bytes.fromhex(signer)),
            )
            written = seal.to_json()
        except (ValueError, TypeError, LookupError, RecursionError):
            written = None
        if written != data:
            raise damaged(f"{SEAL} is damaged or was edited.")
        seal.refuse_repeated()
        return seal

    def refuse_repeated(self) -> None:
        """Makes sure that every file is listed once: of two digests only one could be checked.

        Raises:
            ReleaseError: One is listed twice.
        """
        repeated = [name for name, n in Counter(file.path for file in self.files).items() if n > 1]
        if repeated:
            raise ReleaseError(
                f"{SEAL} lists a file more than once: {', '.join(sorted(repeated)[:5])}.",
                advice="Do not trust this release; ask its publisher for one that adds up.",
            )


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
        raise damaged(f"{SIGNATURE} is not a signature of this seal by {signer.fingerprint}.")


def sealed_file(folder: Path, path: str) -> SealedFile:
    """Returns the size and digest of one file.

    Raises:
        ReleaseError: It is no plain file, or larger than any file of a release.
    """
    with open_plain(folder / path, TABLE_BYTES) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return SealedFile(path=path, size=file.tell(), sha256=digest)


def files_of(folder: Path) -> tuple[str, ...]:
    """Returns the names of all files under a folder, sorted, with forward slashes.

    Raises:
        ReleaseError: There is something else than files and folders with files in them, or more
            than any release has.
    """
    names: list[str] = []
    for path in _walked(folder):
        if len(names) == MOST_FILES:
            raise _too_many()
        names.append(path.relative_to(folder).as_posix())
    return tuple(sorted(names))


def _walked(folder: Path) -> Iterator[Path]:
    """Yields the files under a folder, and holds no more names than a release may have."""
    waiting, folders = [folder], 0
    while waiting:
        inside = waiting.pop()
        empty = True
        with os.scandir(inside) as entries:
            for entry in entries:
                empty = False
                if not entry.is_dir(follow_symlinks=False):
                    # Not the entry's own memory of it, which knows of no other names.
                    refuse_odd(entry.name, os.lstat(entry.path))
                    yield Path(entry.path)
                    continue
                folders += 1
                if folders > MOST_FILES:
                    raise _too_many()
                waiting.append(Path(entry.path))
        if empty and inside != folder:
            raise ReleaseError(
                f"The folder {inside.name} is empty, which no release has.",
                advice="A release consists of plain files only; take out what was added.",
            )


def _too_many() -> ReleaseError:
    return ReleaseError(
        f"The folder holds more than {MOST_FILES} files or folders, which no release has.",
        advice="Give the folder of one release.",
    )


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

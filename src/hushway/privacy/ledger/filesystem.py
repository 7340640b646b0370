"""Where a ledger file can be kept: under one name, on a disk with reliable locks and shared memory.

SQLite keeps the newest entries in files named after the ledger (`-wal`, `-shm`). Two processes that
write to one file under two names do not see each other's entries, and lose them. All writers must
share locks and memory, which network file systems do not promise. A folder that is mounted in two
places does no harm: the files beside the ledger are the same.
"""

import os
import re
import stat
import struct
import sys
import tempfile
from collections.abc import Callable
from fcntl import F_WRLCK, LOCK_EX, LOCK_NB, fcntl, flock
from mmap import mmap
from pathlib import Path
from typing import BinaryIO

from hushway.errors import LedgerError

# Reached over a network, shared with a virtual machine, or written by a program that may do either.
_SHARED = frozenset(
    [
        *("9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs2", "glusterfs", "gpfs"),
        *("lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "panfs", "prl_fs", "pvfs2"),
        *("smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs"),
    ]
)
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")
_ADVICE = "Put the ledger on a local disk, or keep it in PostgreSQL."


def refuse_second_name(path: Path, name: str) -> None:
    """Makes sure that a ledger file has one name only."""
    try:
        found = path.stat()
    except OSError:
        return  # opening it will report the problem
    if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
        raise LedgerError(
            f"The ledger {name} has {found.st_nlink} names (hard links): what is written under one "
            "of them can be lost under another.",
            advice="Close every program that uses it, remove all names but one, and let it be "
            "charged for entries that were lost: hushway ledger settle PLAN --restored",
        )
    if _real(path) in mounts():
        raise LedgerError(
            f"The ledger {name} is mounted as a single file: what is written here can be lost "
            "under its other name.",
            advice="Mount the folder that holds the ledger instead.",
        )


def refuse_unsound_disk(path: Path, name: str) -> None:
    """Makes sure that a ledger file lies where locks and shared memory can be relied upon."""
    kind = file_system_of(path)
    if kind in _SHARED or kind.startswith("fuse."):
        raise LedgerError(
            f"The ledger {name} would lie on a file system of the type {kind}, where locks and "
            "shared memory of several machines or programs cannot be relied upon.",
            advice=_ADVICE,
        )
    if not _hold(path.parent):
        raise LedgerError(
            f"The ledger {name} cannot be kept safely where it is: locks or shared memory do not "
            "hold on this disk.",
            advice=_ADVICE,
        )


def file_system_of(path: Path) -> str:
    """Returns the type of the file system that a path lies on; empty where nobody can tell."""
    real, found = _real(path), mounts()
    for place in (real, *Path(real).parents):
        if str(place) in found:
            return found[str(place)]
    return ""


def mounts() -> dict[str, str]:
    """Returns the type of the file system at each place where one is mounted.

    Empty elsewhere than on Linux, and where `/proc` is out of reach.
    """
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return {}
    return dict(_mount(line) for line in lines if " - " in line)


def _mount(line: str) -> tuple[str, str]:
    """Reads a line of mountinfo (proc(5)): the fifth field is the place, then " - " the type."""
    before, _, after = line.partition(" - ")
    place = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), before.split(" ")[4])
    return place, after.split(" ")[0]


def _real(path: Path) -> str:
    return os.path.realpath(path)


def _hold(folder: Path) -> bool:
    """Tries locks and shared memory on a file without a name; True where that cannot be tried."""
    if sys.platform != "linux":
        return True
    try:
        with (
            tempfile.TemporaryFile(dir=folder, buffering=0) as one,
            Path(f"/proc/self/fd/{one.fileno()}").open("r+b", buffering=0) as other,
        ):
            one.write(bytes(8))
            return all(probe(one, other) for probe in _PROBES)
    except OSError:
        return True  # no right to write here, or a full disk: writing will report it


def _excludes(lock: Callable[[BinaryIO], object]) -> Callable[[BinaryIO, BinaryIO], bool]:
    def probe(one: BinaryIO, other: BinaryIO) -> bool:
        lock(one)
        try:
            lock(other)
        except BlockingIOError:
            return True
        return False

    return probe


def _lock_range(file: BinaryIO) -> None:
    # Locks of an open file exclude each other within one process too, as those of SQLite do between
    # processes: one byte from the beginning.
    fcntl(file, _F_OFD_SETLK, struct.pack("@hhqqi4x", F_WRLCK, os.SEEK_SET, 0, 1, 0))


def _shares_memory(one: BinaryIO, other: BinaryIO) -> bool:
    with mmap(one.fileno(), 8) as first, mmap(other.fileno(), 8) as second:
        first[:] = b"hushway!"
        return second[:] == b"hushway!"


_F_OFD_SETLK = 37
_PROBES = (
    _excludes(lambda file: flock(file, LOCK_EX | LOCK_NB)),
    _excludes(_lock_range),
    _shares_memory,
)

"""Sandbox: restricts which files a process can open, with Landlock (Linux 5.13 or newer).

A process that reads an untrusted file has the rights of its user. Should the file exploit it, the
user's ledgers, keys and rows stay closed.
"""

import ctypes
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

# The kernel's own numbers (linux/landlock.h), the same on every processor.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1
_NO_NEW_PRIVILEGES: Final = 38
_EXECUTE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 2, 1 << 3
_READ: Final = _EXECUTE | _READ_FILE | _READ_FOLDER
# How many rights to files each version knows, and from which on there are rights to TCP.
_FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15}
_MOST_FILE_RIGHTS: Final = 16
_TCP_SINCE, _TCP = 4, 0b11
# Of a file only: to execute, write, read and truncate it.
_RIGHTS_TO_A_FILE: Final = _EXECUTE | 1 << 1 | _READ_FILE | 1 << 14

# What Python and its libraries need of a system; nothing in it is the user's own. DuckDB aborts if
# it cannot ask how much memory its control group has.
_SYSTEM: Final = (
    "/usr",
    "/lib",
    "/lib64",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/ssl/openssl.cnf",
    "/proc/self",
    "/proc/sys",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys",
    "/dev/urandom",
)
_NOWHERE: Final = Path(os.devnull)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("tcp", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("handle", ctypes.c_int32))


def allow_only(*, reads: Iterable[Path], writes: Iterable[Path] = ()) -> bool:
    """Closes all files to this process but those that it is given and those of the program.

    Connections by TCP are closed too, where the kernel can do that. What is open already stays
    open. It holds for this thread and what it starts: threads that run already are not bound.

    Args:
        reads: Files, and folders with all that is in them, that may be read.
        writes: Folders in which files may be made and changed.

    Returns:
        Whether that holds from now on; False if this system has no Landlock.
    """
    kernel = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
    version = 0 if kernel is None else kernel.syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)
    if kernel is None or version < 1:
        return False
    files = (1 << _FILE_RIGHTS.get(version, _MOST_FILE_RIGHTS)) - 1
    rules = _Ruleset(files=files, tcp=_TCP if version >= _TCP_SINCE else 0)
    size = ctypes.sizeof(rules) if version >= _TCP_SINCE else ctypes.sizeof(ctypes.c_uint64)
    ruleset = kernel.syscall(_CREATE_RULESET, ctypes.byref(rules), size, 0)
    if ruleset < 0:
        return False
    try:
        for path in (*_program(), *reads):
            _allow(kernel, ruleset, path, _READ)
        for path in (_NOWHERE, *writes):
            _allow(kernel, ruleset, path, files)
        kernel.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        return bool(kernel.syscall(_RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _program() -> list[Path]:
    """Returns where Python, its libraries and this program lie."""
    python = (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, *sys.path)
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    found = [Path(path) for path in dict.fromkeys((*_SYSTEM, *python, *libraries))]
    return [path for path in (*found, Path(__file__).parents[1]) if path.is_absolute()]


def _allow(kernel: ctypes.CDLL, ruleset: int, path: Path, rights: int) -> None:
    """Opens a path; one that is not there stays closed."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            rights &= _RIGHTS_TO_A_FILE
        beneath = _Beneath(allowed=rights, handle=handle)
        kernel.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(beneath), 0)
    finally:
        os.close(handle)

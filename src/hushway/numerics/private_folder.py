"""Folders that nobody else can change: machine code is run from them."""

import os
import stat
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover  not on Windows
    fcntl = None  # type: ignore[assignment]

_OWN = 0o700
_ROOT = 0
_TRIES = 10


def hold_private(folder: Path) -> int:
    """Makes a folder of the user's own, or takes it as it is, and holds it for this process.

    As long as the handle is open, here or in a child, `move_away` leaves the folder alone. The
    folder counts as used now.

    Returns:
        The handle.

    Raises:
        OSError: The folder cannot be made or held, or somebody else could change what is in it.
    """
    if fcntl is None:  # pragma: no cover  not on Windows
        raise OSError("its owner cannot be told on this system")
    for _ in range(_TRIES):
        try:
            _make(folder)
            _check(folder)
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue  # moved away between two steps: once more
        try:
            fcntl.flock(handle, fcntl.LOCK_SH)  # waits for a sweeper at most, which is done at once
            if _is_at(handle, folder):
                os.utime(handle)
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
    raise OSError("it is moved away again and again")


def move_away(folder: Path, where: Path) -> bool:
    """Moves a folder that no process holds, and says whether it did.

    Raises:
        OSError: The folder is gone, or cannot be moved or locked.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_at(handle, folder):
            return False
        folder.rename(where)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


def _make(folder: Path) -> None:
    missing = [folder, *folder.parents]
    for path in reversed([path for path in missing if not os.path.lexists(path)]):
        path.mkdir(mode=_OWN, exist_ok=True)


def _check(folder: Path) -> None:
    """Refuses a folder in which somebody else could put, or which somebody else could replace."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError("it is not a folder")
    if found.st_uid != os.geteuid():
        raise PermissionError("it belongs to somebody else")
    if stat.S_IMODE(found.st_mode) & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError("others may write to it")
    for parent in folder.resolve(strict=True).parents:
        if _replaceable_below(parent.stat()):
            raise PermissionError(f"others could replace what is in {parent}")


def _replaceable_below(parent: os.stat_result) -> bool:
    """Says whether users other than this one and root may rename what is in a folder."""
    if parent.st_uid not in {_ROOT, os.geteuid()}:
        return True
    open_to_others = bool(parent.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
    # In a sticky folder, such as the one for temporary files, everybody may rename only their own.
    return open_to_others and not parent.st_mode & stat.S_ISVTX


def _is_at(handle: int, folder: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), folder.lstat())
    except FileNotFoundError:
        return False

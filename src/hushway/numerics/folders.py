"""Folders of this user: where programs keep files, and folders that nobody else can change."""

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
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

    As long as the returned handle is open, here or in a child, `move_away` leaves the folder alone.
    The folder counts as used now.
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
    """Moves a folder that no process holds, and says whether it did."""
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


# Folders for what a run keeps only while it lives.
#
# A run holds its folder for as long as its process lives, and removes it when it ends. After a kill
# or a power failure the next run removes it, for nobody holds it any more.


@contextlib.contextmanager
def run_folder(place: Path, kind: str) -> Iterator[Path]:
    """Makes a folder for one run, which only this user can read, and removes it afterwards.

    Args:
        kind: What is kept there; folders of killed runs of the same kind are taken away.
    """
    if not place.is_dir():
        raise NotADirectoryError
    runs = place / f"hushway-{kind}-{os.geteuid()}"
    folder = runs / f"{os.getpid()}-{secrets.token_hex(8)}"
    handle = hold_private(folder)
    try:
        _sweep(runs)
        yield folder
    finally:
        # Somebody may still write to it while an error is on its way.
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)
        with contextlib.suppress(OSError):
            runs.rmdir()


def _sweep(runs: Path) -> None:
    """Takes away the folders of runs that are no more."""
    for path in runs.iterdir():
        # Held by a living run, already gone, or not ours: nothing to do about it.
        with contextlib.suppress(OSError):
            aside = runs / f"gone-{secrets.token_hex(8)}"
            if move_away(path, aside):
                shutil.rmtree(aside, ignore_errors=True)


# Where programs of this user keep files, as the XDG Base Directory standard says.


def user_folder(variable: str, usual: str) -> Path | None:
    """Returns the user's folder for one kind of files; None for a user without a home.

    Args:
        variable: What names it in the environment, such as XDG_STATE_HOME.
        usual: Where it is otherwise, such as ~/.local/state.
    """
    home = os.environ.get(variable, "")
    if not home.startswith("/"):  # the standard says to ignore such a one
        home = os.path.expanduser(usual)  # noqa: PTH111  has an answer without a home
    return Path(home) / "hushway" if home.startswith("/") else None


def user_folders(variable: str, usual: str) -> Iterator[Path]:
    """Yields that folder, then one for temporary files with the user's number."""
    folder = user_folder(variable, usual)
    if folder is not None:
        yield folder
    try:
        temporary = tempfile.gettempdir()
    except FileNotFoundError:
        return
    yield Path(temporary) / f"hushway-{os.geteuid()}"

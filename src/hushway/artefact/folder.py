"""A folder that appears whole or not at all.

Everything is built in a hidden folder next to its final place and moved there in one step. A
process that is killed leaves at most the hidden folder; the next one for that place takes it away.
"""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from hushway.artefact.seal import files_of
from hushway.errors import ReleaseError

try:
    import fcntl
except ImportError:  # pragma: no cover  not on Windows
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def appearing(folder: Path) -> Iterator[Path]:
    """Gives a hidden folder to write into, and moves it to `folder` when all went well.

    Raises:
        ReleaseError: Something is at `folder` already, or the disk refuses.
    """
    _check_free(folder)
    with _disk_problems(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(folder)
        partial = folder.with_name(f".{folder.name}.partial-{secrets.token_hex(8)}")
        partial.mkdir()
        try:
            with _held(partial):
                yield partial
                _flush(partial)
                _check_free(folder)
                partial.rename(folder)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        # The release is in its place; a disk that cannot promise to keep it there is no failure.
        with contextlib.suppress(OSError):
            _flush_folder(folder.parent)


@contextlib.contextmanager
def _disk_problems(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        # Libraries put words and paths of their own into some problems, and numbers into few.
        reason = os.strerror(problem.errno) if problem.errno else "the disk refused"
        raise ReleaseError(
            f"The release {folder.name} cannot be written: {reason}. Nothing was left behind.",
            advice="Check the space on the disk and the permissions of the folder. What the "
            "release cost stays spent; hushway ledger show lists it as not published.",
        ) from problem


@contextlib.contextmanager
def _held(partial: Path) -> Iterator[None]:
    """Holds a lock on a hidden folder for as long as this process lives and works on it."""
    handle = _lock(partial)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _lock(partial: Path) -> int | None:
    """Returns a handle that locks a folder, or None where folders cannot be locked.

    Raises:
        BlockingIOError: Another process holds it.
    """
    if fcntl is None:  # pragma: no cover  not on Windows
        return None
    handle = os.open(partial, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise
    except OSError:  # some network disks know no locks
        pass
    return handle


def _remove_leftovers(folder: Path) -> None:
    """Takes away the hidden folders of killed processes; those of living ones are locked."""
    prefix = f".{folder.name}.partial-"
    for path in folder.parent.iterdir():
        if path.name.startswith(prefix) and path.is_dir() and not path.is_symlink():
            # Locked by a living process, already gone, or somebody else's: not in our way.
            with contextlib.suppress(OSError), _held(path):
                shutil.rmtree(path, ignore_errors=True)


def _flush(partial: Path) -> None:
    """Makes sure that files and folders are on the disk before they appear."""
    for name in files_of(partial):
        with (partial / name).open("rb") as file:
            os.fsync(file.fileno())
    for place, _, _ in os.walk(partial, topdown=False):
        _flush_folder(Path(place))


def _flush_folder(folder: Path) -> None:
    if os.name != "posix":  # pragma: no cover  elsewhere folders cannot be opened
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _check_free(folder: Path) -> None:
    if os.path.lexists(folder):
        raise ReleaseError(
            f"There is already something called {folder.name}; a release is never overwritten.",
            advice="Choose another folder, or move the old one away.",
        )

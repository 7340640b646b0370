"""The place of a release: claimed before anything is spent on it, and filled in one step.

While a process publishes there, a hidden folder lies beside the place. It names the release that is
charged for, and holds the release while it is being written. The process holds a lock on it, so two
processes cannot publish to one place, and the remains of a killed process can be recognised. When
all is written, sealed and noted in the ledger, one rename moves the release to its place.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from hushway.errors import ReleaseError
from hushway.interruption import undisturbed
from hushway.release.folder.seal import SEAL, files_of

_LONGEST_NAME = 255
_LONGEST_PATH = 4096
_RESERVED, _RELEASE = "reserved", "release"


class Place:
    """A claimed place.

    Attributes:
        folder: Where the release appears.
        hidden: The hidden folder beside it.
        partial: The release while it is being written.
        has_appeared: Whether the release has taken its place.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hidden = hidden_folder(folder)
        self.partial = self.hidden / _RELEASE
        self.has_appeared = False
        self._kept: bool | None = None

    @property
    def is_sealed(self) -> bool:
        """Whether a whole release waits to take its place."""
        return (self.partial / SEAL).is_file()

    @property
    def reserved(self) -> str | None:
        """The release that was to be charged for, if somebody has begun one."""
        try:
            return (self.hidden / _RESERVED).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def begin(self, release: str) -> None:
        """Removes what an earlier process left, and notes which release is charged for next."""
        self._kept = None
        with disk_problems(self.folder):
            _empty(self.hidden)
            self.partial.mkdir()
            _write(self.hidden / _RESERVED, release.encode())
            _flush_folder(self.hidden)

    def flush(self) -> None:
        """Waits until all of the release is on the disk."""
        with disk_problems(self.folder):
            for name in files_of(self.partial):
                with (self.partial / name).open("rb") as file:
                    os.fsync(file.fileno())
            for place, _, _ in os.walk(self.partial, topdown=False):
                _flush_folder(Path(place))

    def appear(self) -> None:
        """Moves the release to its place.

        Raises:
            ReleaseError: Something is there already, or the disk refuses.
        """
        with disk_problems(self.folder):
            refuse_taken(self.folder)
            self.partial.rename(self.folder)
        self.has_appeared = True
        # The release is in its place; a disk that cannot guarantee to keep it there is no failure.
        with contextlib.suppress(OSError):
            _flush_folder(self.folder.parent)

    def remember(self) -> None:
        """Keeps the hidden folder for a later `settle`."""
        self._kept = True

    def forget(self) -> None:
        """Marks the hidden folder for removal."""
        self._kept = False

    def leave(self) -> None:
        """Removes the hidden folder, unless a whole release is in it or it is to be kept."""
        stays = self.is_sealed if self._kept is None else self._kept
        if not stays:
            shutil.rmtree(self.hidden, ignore_errors=True)


def hidden_folder(folder: Path) -> Path:
    """Returns the hidden folder that belongs to a place."""
    return folder.with_name(f".{folder.name}.partial")


@contextlib.contextmanager
def claimed(folder: Path) -> Iterator[Place]:
    """Claims the place of a release; nobody else can while this lasts.

    Raises:
        ReleaseError: Another process has claimed it, it cannot be a folder, or the disk refuses.
    """
    refuse_impossible(folder)
    place = Place(folder)
    handle: int | None = None
    try:
        # Interrupted in between, the hidden folder would stay.
        with disk_problems(folder), undisturbed():
            folder.parent.mkdir(parents=True, exist_ok=True)
            handle = _hold(folder)
        yield place
    finally:
        if handle is not None:
            with undisturbed():
                place.leave()
                os.close(handle)


def refuse_impossible(folder: Path) -> None:
    """Makes sure that a release can have this name.

    Raises:
        ReleaseError: It cannot.
    """
    name = folder.name
    if not name or name == ".." or "\0" in str(folder):
        raise ReleaseError(
            "The release's folder has no name of its own.",
            advice='Name a folder such as "release" in the plan\'s [release] section.',
        )
    names = (hidden_folder(folder).name, *folder.parts)
    whole = len(os.fsencode(folder.absolute())) + _LONGEST_NAME
    if max(len(os.fsencode(part)) for part in names) > _LONGEST_NAME or whole > _LONGEST_PATH:
        raise ReleaseError(
            "The name of the release's folder is too long for a disk.",
            advice="Choose a shorter name in the plan's [release] section.",
        )


def refuse_taken(folder: Path) -> None:
    """Makes sure that nothing is at a place yet.

    Raises:
        ReleaseError: Something is.
    """
    if os.path.lexists(folder):
        raise ReleaseError(
            f"There is already something called {folder.name}; a release is never overwritten.",
            advice="Choose another folder, or move the old one away.",
        )


@contextlib.contextmanager
def disk_problems(folder: Path) -> Iterator[None]:
    """Turns what a disk says into one sentence."""
    try:
        yield
    except OSError as problem:
        # Libraries put words and paths of their own into some problems, and numbers into few.
        reason = os.strerror(problem.errno) if problem.errno else "the disk refused"
        raise ReleaseError(
            f"The release {folder.name} cannot be written: {reason}.",
            advice="Check the space on the disk and the permissions of the folder.",
        ) from problem


def _hold(folder: Path) -> int:
    """Returns a handle that locks the hidden folder."""
    hidden = hidden_folder(folder)
    while True:
        found = False
        try:
            hidden.mkdir()
        except FileExistsError:
            found = True
        handle = os.open(hidden, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            _lock(handle, folder, found=found)
            if _is_at(handle, hidden):
                return handle
        except BaseException:
            os.close(handle)
            raise
        # The process that held it has finished and removed the folder.
        os.close(handle)


def _lock(handle: int, folder: Path, *, found: bool) -> None:
    try:
        flock(handle, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        raise ReleaseError(
            f"Another process is publishing to {folder.name} at this moment.",
            advice="Wait until it is done, or choose another folder. Nothing was spent here.",
        ) from None
    except OSError:
        # Some network disks have no locks: a killed process cannot be told from a running one.
        if found:
            raise ReleaseError(
                f"{hidden_folder(folder).name} is left from another process, which may be alive: "
                "this disk knows no locks.",
                advice="If nobody publishes to this place, take it away and start again.",
            ) from None


def _is_at(handle: int, path: Path) -> bool:
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    held = os.fstat(handle)
    return (held.st_dev, held.st_ino) == (there.st_dev, there.st_ino)


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _write(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    if os.name != "posix":  # pragma: no cover  elsewhere folders cannot be opened
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# All files together take less than this for one row; measured on a dense table with names.
_BYTES_PER_ROW = 350
_MOST_ROWS = 1 << 24
_PAPERS_BYTES = 1 << 24


def check_destination(folder: Path, cells: int) -> None:
    """Makes sure that a release of so many cells can be written; the writer looks again.

    Raises:
        ReleaseError: Something is there already, somebody publishes there at this moment, or the
            disk is full or closed to us.
    """
    refuse_impossible(folder)
    if os.path.lexists(folder):
        raise ReleaseError(
            f"There is already something called {folder.name}; nothing was spent.",
            advice="Name another folder in the plan's [release] section.",
        )
    _refuse_occupied(folder)
    parent = next(place for place in folder.absolute().parents if os.path.lexists(place))
    _refuse_closed(folder, parent)
    needed = _BYTES_PER_ROW * min(cells, _MOST_ROWS) + _PAPERS_BYTES
    if shutil.disk_usage(parent).free < needed:
        raise ReleaseError(
            f"The disk has less than the {needed / 1e6:,.0f} MB that the release "
            f"{folder.name} may need. Nothing was spent.",
            advice="Make room, or name a folder on another disk.",
        )


def _refuse_occupied(folder: Path) -> None:
    """Refuses a place where somebody publishes, or where a whole release waits."""
    hidden = hidden_folder(folder)
    if not os.path.lexists(hidden):
        return
    with disk_problems(folder):
        handle = os.open(hidden, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    try:
        _lock(handle, folder, found=True)
    finally:
        os.close(handle)
    if Place(folder).is_sealed:
        raise ReleaseError(
            f"An earlier publish to {folder.name} was interrupted just before its end: its "
            "release waits beside the place. Nothing was spent here.",
            advice="Let it take its place with: hushway ledger settle PLAN. For another release, "
            "name another folder.",
        )


def _refuse_closed(folder: Path, parent: Path) -> None:
    if not parent.is_dir():
        raise ReleaseError(
            f"The release {folder.name} cannot be written: {parent.name} is not a folder. Nothing "
            "was spent.",
            advice="Name a folder in the plan's [release] section that is in no file.",
        )
    if not os.access(parent, os.W_OK | os.X_OK):
        raise ReleaseError(
            f"The release {folder.name} cannot be written: no permission. Nothing was spent.",
            advice="Name a folder in the plan's [release] section that you may write to.",
        )

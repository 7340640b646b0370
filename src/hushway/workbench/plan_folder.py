"""The plans that the workbench serves: those in the folders that were named, and no others.

Pages name a plan by its id, never by a path.
"""

import contextlib
import hashlib
import os
import re
import secrets
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hushway.errors import PlanError, ReleaseError
from hushway.families.registry import family_named
from hushway.release.folder.new_file import write_new
from hushway.release.folder.seal import SEAL
from hushway.release.untrusted.limits import read_plain
from hushway.tables.unpacking import MOST_BYTES
from hushway.workbench.plan_text import ReadPlan, read_plan
from hushway.workbench.responses import RefusalError

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]{0,80}\.toml", re.ASCII)
# Tells a plan from other TOML files, even if it is not valid yet.
_PLAN: Final = re.compile(r"^\s*release_type\s*=", re.MULTILINE)
_MOST_PLANS: Final = 200
_ID_LETTERS: Final = 16


@dataclass(frozen=True, kw_only=True)
class PlanFile:
    """A plan's file.

    Attributes:
        id: Its id in URLs.
        name: Its path relative to the folder that was named.
        file: Its path.
    """

    id: str
    name: str
    file: Path

    def text(self) -> str:
        """Returns its text.

        Raises:
            RefusalError: It cannot be read.
        """
        try:
            return read_plain(self.file.resolve(), MOST_BYTES).decode("utf-8")
        except (ReleaseError, OSError, UnicodeDecodeError):
            raise RefusalError(
                404,
                f"The plan {self.name} cannot be read.",
                advice=f"It must be a text in UTF-8, of at most {MOST_BYTES:,} bytes.",
            ) from None

    def read(self) -> ReadPlan:
        """Reads the plan."""
        return read_plan(self.text(), folder=self.file.parent)


class PlanFolders:
    """All plans in some folders.

    Args:
        places: Plans, and folders with plans.

    Raises:
        PlanError: There is no such file or folder.
    """

    def __init__(self, places: Sequence[Path]) -> None:
        for place in places:
            if not place.exists():
                raise PlanError(
                    f"There is no plan or folder {place}.",
                    advice="Name plans, or folders in which plans lie.",
                )
        self._places = [Path(os.path.abspath(place)) for place in places]  # noqa: PTH100  keeps links
        self._writing = threading.Lock()

    def plans(self) -> list[PlanFile]:
        """Returns the plans that exist now."""
        found = {file: name for place in self._places for file, name in _plans_at(place)}
        return [
            PlanFile(id=_id_of(file), name=name, file=file)
            for file, name in list(found.items())[:_MOST_PLANS]
        ]

    def releases(self) -> list[Path]:
        """Returns the folders of all releases that plans have published."""
        found = []
        for plan in self.plans():
            with contextlib.suppress(RefusalError):
                found.append(release_folder(plan.read()))
        return list(dict.fromkeys(folder for folder in found if folder is not None))

    def plan(self, plan_id: str) -> PlanFile:
        """Returns a plan by its id.

        Raises:
            RefusalError: There is no such plan.
        """
        for plan in self.plans():
            if plan.id == plan_id:
                return plan
        raise RefusalError(404, "There is no such plan.", advice="It may have been moved away.")

    def add(self, name: str, release_type: str) -> PlanFile:
        """Writes a new plan from a template into the first folder that was named.

        Raises:
            PlanError: There is no such release type.
            RefusalError: The name is not allowed, or exists already.
        """
        if not _NAME.fullmatch(name):
            raise RefusalError(
                422,
                "A plan needs a plain name that ends in .toml.",
                advice="Use letters, digits, dots, dashes and spaces.",
            )
        text = family_named(release_type).template
        file = self.folder / name
        try:
            write_new(file, text.encode())
        except ReleaseError as error:
            raise RefusalError(409, str(error), advice=error.advice) from None
        return self.added(file)

    @property
    def folder(self) -> Path:
        """Where new plans go: the first folder that was named, or that of the first plan."""
        first = self._places[0]
        return first if first.is_dir() else first.parent

    def added(self, file: Path) -> PlanFile:
        """Serves a plan that was written there."""
        if not self._places[0].is_dir():
            self._places.append(file)
        return self.plan(_id_of(file))

    def write(self, plan: PlanFile, text: str, *, revision: str) -> None:
        """Replaces the text of a plan, whole or not at all.

        Args:
            plan: The plan.
            text: Its new text.
            revision: The revision that was edited.

        Raises:
            RefusalError: The file was changed meanwhile, or cannot be written.
        """
        data = text.encode("utf-8")
        if len(data) > MOST_BYTES:
            raise RefusalError(413, "The plan is too long.", advice="Shorten it.")
        with self._writing:
            if revision_of(plan.text()) != revision:
                raise RefusalError(
                    409,
                    f"{plan.name} was changed by somebody else meanwhile.",
                    advice="Load it again, and make your changes there.",
                )
            try:
                _replace(plan.file, data)
            except OSError:
                raise RefusalError(
                    403,
                    f"{plan.name} cannot be written.",
                    advice="Check its permissions and the space on the disk.",
                ) from None


def revision_of(text: str) -> str:
    """Returns the digest of a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def release_folder(read: ReadPlan) -> Path | None:
    """Returns the release folder of a plan; None if nothing is published there."""
    if read.plan is None:
        return None
    folder = read.plan.path(read.plan.release.folder)
    return folder if (folder / SEAL).is_file() else None


def _plans_at(place: Path) -> Iterator[tuple[Path, str]]:
    if place.is_file():
        yield place, place.name
        return
    for folder in (place, *sorted(one for one in _listed(place) if one.is_dir())):
        for file in sorted(_listed(folder)):
            if file.suffix == ".toml" and file.is_file() and _is_plan(file):
                yield file, str(file.relative_to(place))


def _listed(folder: Path) -> list[Path]:
    try:
        return [one for one in folder.iterdir() if not one.name.startswith(".")]
    except OSError:
        return []


def _is_plan(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return _PLAN.search(opened.read(MOST_BYTES).decode("utf-8", "replace")) is not None
    except OSError:
        return False


def _id_of(file: Path) -> str:
    return hashlib.sha256(os.fsencode(file)).hexdigest()[:_ID_LETTERS]


def _replace(file: Path, data: bytes) -> None:
    # The target of a symbolic link, so that the link stays.
    target = file.resolve()
    partial = target.with_name(f".{target.name}.partial-{secrets.token_hex(8)}")
    try:
        with partial.open("xb") as opened:
            os.fchmod(opened.fileno(), target.stat().st_mode & 0o777)
            opened.write(data)
            opened.flush()
            os.fsync(opened.fileno())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)

"""Where programs of this user keep what they know, as the XDG Base Directory standard says."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


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

"""Whether something that must not be left can be read anywhere."""

from pathlib import Path


def traces_of(planted: str, folder: Path) -> list[Path]:
    """Returns the files of a folder in which a text is to be read."""
    found = []
    for path in folder.rglob("*"):
        try:
            if path.is_file() and planted.encode() in path.read_bytes():
                found.append(path)
        except OSError:
            # Gone in the meantime.
            continue
    return found

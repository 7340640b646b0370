"""Small TOML files of strangers: plans, and descriptions of networks."""

import tomllib
from pathlib import Path
from typing import Any, Final

# The longest of them that is any use has some thousand bytes.
MOST_BYTES: Final = 1_000_000


def read_toml(file: Path) -> dict[str, Any]:
    """Returns what a file says, unless it is no file at rest, or far too long.

    Raises:
        FileNotFoundError: There is no such file.
        tomllib.TOMLDecodeError: It is not TOML; the text says where.
        OSError: It cannot be read, is too long, or holds what no program needs: lists in lists in
            lists, or numbers of thousands of digits.
    """
    # A pipe would be waited for, perhaps for ever.
    if not file.is_file() and file.exists():
        raise OSError
    with file.open("rb") as opened:
        data = opened.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise OSError
    try:
        return tomllib.loads(data.decode("utf-8"))
    except tomllib.TOMLDecodeError:
        raise
    except (ValueError, RecursionError):
        raise OSError from None

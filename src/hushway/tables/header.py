"""What a file of rows says about its columns before any row."""

from dataclasses import dataclass
from typing import Literal

from hushway.tables.encodings import Encoding

Clock = Literal["local", "utc", "service"]


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a file says about its columns before any row."""

    names: tuple[str, ...]
    clocks: dict[str, Clock]
    encoding: Encoding = "utf-8"

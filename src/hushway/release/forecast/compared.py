"""Which file of a release holds the figures that two releases are compared by."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ComparedTable:
    """A table of published figures.

    Attributes:
        file: Where it lies in the release folder, as Parquet.
        optional: Further columns that do, in releases that have them.
        error: The column with the standard error of a figure; None if figures carry none.
    """

    file: str
    keys: tuple[str, ...]
    optional: tuple[str, ...] = ()
    error: str | None = "standard_error"

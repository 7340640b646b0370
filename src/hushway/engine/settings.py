"""How much of a machine, of which cluster or of which warehouse counting may use."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hushway.errors import DataError
from hushway.numerics.threads import processors

# DuckDB would take "-" for a limit without end.
SIZE: Final = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT])(i?)B", re.ASCII)
# What DuckDB itself advises for each thread.
_LEAST_MEGABYTES = 125


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """How much of a machine the counting may use: of this one, or of each of a cluster's tasks.

    Attributes:
        memory_limit: Most memory, such as "4GB"; what does not fit goes to disk.
        threads: Most threads; all cores if None.
        temp_folder: Where rows that do not fit go while counting; the system's place if None. They
            go into a folder of their own that only this user can read and that is removed.
        encrypt_spills: Whether such rows are encrypted, and counting is refused where they cannot
            be; if None, they are encrypted wherever the library for it is installed.
        batch_rows: How many rows the engine hands over at a time. It has no say in what is counted.
        cluster: The cluster that reads and counts; None to do it here.
        warehouse: The warehouse that holds the rows; None to read files.
    """

    memory_limit: str = "4GB"
    threads: int | None = None
    temp_folder: Path | str | None = None
    encrypt_spills: bool | None = False
    max_temp: str = "100GB"
    batch_rows: int = 1_000_000
    cluster: "Cluster | None" = None
    warehouse: "Warehouse | None" = None


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A Spark cluster.

    Attributes:
        master: Its address, such as "spark://host:7077" or "local[4]"; None to use the session
            that this process has.
        parts: Into how many parts people are divided; twice the cluster's cores if None. It has no
            say in what is counted.
    """

    master: str | None = None
    parts: int | None = None


@dataclass(frozen=True, kw_only=True)
class Warehouse:
    """A database that holds the protected rows.

    Attributes:
        url: Its address, such as "postgres://user@host/database"; it may hold a password, so it is
            never shown.
    """

    url: str = field(repr=False)


def refuse_little_memory(limit: str, threads: int | None) -> None:
    """Refuses a limit with which counting would fail, which would show only after spending."""
    needed = (threads or processors()) * _LEAST_MEGABYTES
    if megabytes_of(limit) < needed:
        raise DataError(
            f"The engine needs at least {_LEAST_MEGABYTES} MB of memory for each thread.",
            advice=f'Set memory_limit = "{needed}MB" or more, or fewer threads.',
        )


def megabytes_of(size: str) -> float:
    """Returns a size such as "4GB" in millions of bytes."""
    found = SIZE.fullmatch(size)
    if found is None:
        raise not_understood()
    number, unit, binary = float(found[1]), found[2], found[3] == "i"
    megabytes: float = number * (1024 if binary else 1000) ** ("KMGT".index(unit) + 1) / 1e6
    return megabytes


def not_understood() -> DataError:
    """Returns the error of settings that an engine does not take."""
    return DataError(
        "The engine does not understand its settings.",
        advice='Give sizes such as "4GB" and at least one thread.',
    )

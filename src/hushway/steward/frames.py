"""Plans from data frames: `hushway.od(frame, origin=..., destination=..., ...)` and its siblings.

A plan names files, so that it can be run again, checked and handed on. A frame becomes such a file
beside its plan; from there on all is as with a plan that somebody wrote.

Privacy:
    No value of the protected rows decides anything here, and only their owner may read the file.
    Public tables and the window are given, never taken from the rows.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date as calendar_day
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Protocol, TypedDict, Unpack

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from hushway.errors import DataError, PlanError
from hushway.families.load import load_plan
from hushway.release.folder.new_file import make_folder, refuse_taken
from hushway.release.plans.sections import AnyPlan
from hushway.steward.init import init

_ROWS: Final = "rows.parquet"
_PLAN: Final = "plan.toml"


class Frame(Protocol):
    """A table in memory: pandas, polars, Arrow, a DuckDB relation, and whatever speaks Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Returns the rows as a stream of Arrow's C interface."""


class Columns(TypedDict, total=False):
    """The column of each role; those with usual names are found without being named."""

    person: str
    origin: str
    destination: str
    place: str
    lon: str
    lat: str
    time: str
    date: str
    trip: str
    trip_id: str


@dataclass(frozen=True)
class PlanFromFrame:
    """Writes rows and plan into a folder, and returns the plan, which every verb takes.

    Args:
        rows: The protected rows.
        zone: The time zone of the city, an IANA name.
        first_day: The first day of the public window.
        last_day: Its last day, included.
        unit: Who is protected: person, device, or a single trip; told from the column of
            people unless said.
        time_format: How times are written, if the column holds text or numbers.
        places: The public list of places, a frame or a file.
        areas: The public areas, a file.
        roads: The public road network, a file.
        epsilon: The budget of the release, exactly as it is written.
        options: Any other options of the plan, such as `{"time.minutes": 30}`.
        folder: Where rows and plan go.
        replace: Whether a plan in that folder and its rows are replaced; the ledger stays.
        columns: Which column holds what: person, origin, destination, place, lon, lat, time,
            date, trip, trip_id.

    Raises:
        PlanError: A column or a fact is missing or wrong.
        DataError: Rows or places are no frame, or cannot be written as a table.
        ReleaseError: The folder has a plan already, or cannot be written to.
    """

    release_type: str

    def __call__(  # noqa: PLR0913
        self,
        rows: Frame,
        *,
        zone: str,
        first_day: calendar_day | str,
        last_day: calendar_day | str,
        unit: str | None = None,
        time_format: str | None = None,
        places: Frame | Path | str | None = None,
        areas: Path | str | None = None,
        roads: Path | str | None = None,
        epsilon: Fraction | float | str = "1",
        options: Mapping[str, str | int] | None = None,
        folder: Path | str = "hushway",
        replace: bool = False,
        **columns: Unpack[Columns],
    ) -> AnyPlan:
        """Returns the plan; see above."""
        target = Path(folder)
        make_folder(target)
        with _new_files(target, replace=replace) as new:
            _write_rows(rows, new(_ROWS))
            if places is not None and not isinstance(places, str | Path):
                places = _write_places(places, new("places.csv"))
            written = init(
                target / _ROWS,
                release_type=self.release_type,
                unit=unit,
                time_format=time_format,
                places=places,
                areas=areas,
                roads=roads,
                zone=zone,
                first_day=str(first_day),
                last_day=str(last_day),
                epsilon=str(epsilon),
                options={"data.name": target.resolve().name, **(options or {})},
                output=new(_PLAN),
                **columns,
            )
            if written.unset:
                raise PlanError(
                    f"The plan lacks {', '.join(written.unset)}.",
                    advice="Give places, areas or roads, or set it by options={...}.",
                )
            return load_plan(written.file)


od: Final = PlanFromFrame("od")
sequences: Final = PlanFromFrame("sequences")
density: Final = PlanFromFrame("density")
links: Final = PlanFromFrame("links")


@contextlib.contextmanager
def _new_files(folder: Path, *, replace: bool) -> Iterator[Callable[[str], Path]]:
    """Yields a function that makes room for a file; if anything fails, its files go again."""
    if not replace:
        refuse_taken(folder / _PLAN)
    made: list[Path] = []

    def new(name: str) -> Path:
        path = folder / name
        if replace:
            path.unlink(missing_ok=True)
        refuse_taken(path)
        made.append(path)
        return path

    try:
        yield new
    except BaseException:
        for path in made:
            path.unlink(missing_ok=True)
        raise


def _write_rows(rows: Frame, file: Path) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as sink, _as_table("The rows"), _stream(rows) as stream:
        schema = _plain(stream.schema)
        with pq.ParquetWriter(sink, schema) as writer:
            for batch in stream:
                writer.write_batch(batch.cast(schema))


def _write_places(places: Frame, file: Path) -> Path:
    with _as_table("The places"), _stream(places) as stream:
        pyarrow.csv.write_csv(stream.read_all().cast(_plain(stream.schema)), file)
    return file


def _stream(frame: Frame) -> Any:
    return pa.RecordBatchReader.from_stream(frame)


def _plain(schema: Any) -> Any:
    """Returns a schema with texts as files write them: views are known in memory only."""
    views = [pa.types.is_string_view(field.type) for field in schema]
    return pa.schema(
        [
            field.with_type(pa.large_string()) if view else field
            for field, view in zip(schema, views, strict=True)
        ]
    )


@contextlib.contextmanager
def _as_table(what: str) -> Iterator[None]:
    """Says what is wrong with a frame without the values that Arrow's own words may hold."""
    try:
        yield
    except (TypeError, ValueError, AttributeError, NotImplementedError):
        raise DataError(
            f"{what} cannot be taken as a table.",
            advice="Give a frame of pandas or polars, an Arrow table or a DuckDB relation, with "
            "values of one type in each column; or the path of a file to hushway.init.",
        ) from None

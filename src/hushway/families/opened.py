"""A release as its readers take it in: tables for their libraries, and a summary for notebooks."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushway.errors import HushwayError, ReleaseError
from hushway.families.verify import sealed_certificate
from hushway.privacy.certificate import Certificate, parsed_json
from hushway.release.bounded import PAPER_BYTES, PICTURE_BYTES, read_plain, unguarded
from hushway.release.papers import PACKAGE, PICTURE
from hushway.release.seal import files_of
from hushway.release.wording import claim_text, guarantee

if TYPE_CHECKING:
    import pyarrow as pa

_ENDINGS = (".parquet", ".csv")
_GEO = ".geo"
_COUNT = "count"


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """A published release, as it was sealed. Made by `hushway.open`.

    Attributes:
        folder: Where it is.
        certificate: What it claims.
    """

    folder: Path
    certificate: Certificate
    _resources: Mapping[str, Mapping[str, Any]] = field(repr=False)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of its tables; the first is what the release is about."""
        return tuple(self._resources)

    def arrow(self, name: str | None = None) -> "pa.Table":
        """Returns a table for Arrow.

        Args:
            name: One of `tables`; the first unless said.

        Raises:
            ReleaseError: There is no such table.
        """
        resource = self._resource(name)
        path = self.folder / resource["path"]
        if path.suffix == ".csv":
            return _csv_table(path, resource["schema"]["fields"])
        import pyarrow.parquet as pq

        return pq.read_table(path)

    def pandas(self, name: str | None = None) -> Any:
        """Returns a table as a pandas DataFrame.

        Args:
            name: One of `tables`; the first unless said.

        Raises:
            ReleaseError: There is no such table.
            HushwayError: pandas is not installed.
        """
        _library("pandas")
        return self.arrow(name).to_pandas()

    def polars(self, name: str | None = None) -> Any:
        """Returns a table as a polars DataFrame.

        Args:
            name: One of `tables`; the first unless said.

        Raises:
            ReleaseError: There is no such table.
            HushwayError: polars is not installed.
        """
        return _library("polars").from_arrow(self.arrow(name))

    def geopandas(self, name: str | None = None) -> Any:
        """Returns a table with its shapes, or the points of its `lon` and `lat`, in degrees.

        Args:
            name: One of `tables`; the first unless said. Of two forms of a table, the one with
                shapes is taken.

        Raises:
            ReleaseError: There is no such table, or it has no places.
            HushwayError: geopandas is not installed.
        """
        asked = self.tables[0] if name is None else name
        shaped = asked + _GEO if asked + _GEO in self._resources else asked
        table = self.arrow(shaped)
        geopandas = _library("geopandas")
        if "geometry" in table.column_names:
            return geopandas.read_parquet(self.folder / self._resource(shaped)["path"])
        if {"lon", "lat"} <= set(table.column_names):
            frame = table.to_pandas()
            points = geopandas.points_from_xy(frame["lon"], frame["lat"])
            return geopandas.GeoDataFrame(frame, geometry=points, crs="EPSG:4326")
        raise ReleaseError(
            f"The table {asked} has no places.",
            advice="Take it as a pandas table, and join it with the one that has.",
        )

    def _resource(self, name: str | None) -> Mapping[str, Any]:
        asked = self.tables[0] if name is None else name
        if asked not in self._resources:
            raise ReleaseError(
                f"The release has no table {asked!r}.",
                advice=f"Its tables are: {', '.join(self.tables)}.",
            )
        return self._resources[asked]

    @cached_property
    def _sizes(self) -> tuple[int, str]:
        """The rows of the first table, and the sum of its counts in words."""
        table = self.arrow()
        if _COUNT not in table.column_names:
            return table.num_rows, ""
        import pyarrow.compute as pc

        return table.num_rows, f"{pc.sum(table[_COUNT]).as_py() or 0:,.0f}"

    def _repr_html_(self) -> str:
        """Shows the picture, sums, error and guarantee in a notebook; nothing is fetched."""
        picture = read_plain(self.folder / PICTURE, PICTURE_BYTES)
        rows, total = self._sizes
        facts = {
            "Guarantee": f"{guarantee(self.certificate)} {claim_text(self.certificate)}.",
            "Error": self.certificate.terms.error,
            f"Table {self.tables[0]}": f"{rows:,} rows" + (f", {total} in all" if total else ""),
            "Tables": ", ".join(self.tables),
        }
        lines = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            f"<td style='text-align:left'>{escape(text)}</td></tr>"
            for name, text in facts.items()
        )
        image = base64.b64encode(picture).decode()
        return (
            f"<h3>{escape(self.certificate.title)}</h3>"
            f"<img alt='What the release shows' style='max-width:100%' "
            f"src='data:image/png;base64,{image}'><table>{lines}</table>"
        )


def open_release(folder: Path | str) -> Release:
    """Opens a release whose files are as they were sealed.

    That shows changes. Whether all that the release claims adds up is for `hushway.verify` to say.

    Args:
        folder: The release.

    Raises:
        ReleaseError: There is no release, or a file was changed, added or taken away.

    Example:
        >>> release = hushway.open("release")
        >>> release.tables[0]
        'trips'
        >>> release.arrow("places").column_names
        ['id', 'name', 'lat', 'lon', 'zone']
        >>> print(release.certificate.title)
        A little release
    """
    place = Path(folder)
    if not place.is_dir():
        raise ReleaseError(f"There is no folder {place.name}.", advice="Give a release's folder.")
    certificate = sealed_certificate(place)
    return Release(folder=place, certificate=certificate, _resources=_resources(place))


def _resources(folder: Path) -> dict[str, Mapping[str, Any]]:
    """Returns the tables by name; of two formats of one table, the one that is quicker to read."""
    sealed = set(files_of(folder))
    listed = parsed_json(read_plain(folder / PACKAGE, PAPER_BYTES))["resources"]
    found: dict[str, Mapping[str, Any]] = {}
    for ending in _ENDINGS:
        for resource in listed:
            path = str(resource["path"])
            # A path that leads out of the folder is none of the sealed ones.
            if path in sealed and path.endswith(ending) and "schema" in resource:
                found.setdefault(path.removesuffix(ending), resource)
    order: dict[str, int] = {}
    for at, resource in enumerate(listed):
        order.setdefault(str(resource["path"]).rpartition(".")[0], at)
    return dict(sorted(found.items(), key=lambda each: order[each[0]]))


def _csv_table(path: Path, fields: list[Mapping[str, str]]) -> "pa.Table":
    """Reads a table as the data package describes it: an id of digits stays text."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    kinds = {"integer": pa.int64(), "number": pa.float64()}
    types = {each["name"]: kinds.get(each["type"], pa.string()) for each in fields}
    table = arrow_csv.read_csv(
        path,
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(column_types=types, strings_can_be_null=False),
    )
    for at, name in enumerate(table.column_names):
        if pa.types.is_string(table.schema.field(at).type):
            texts = [unguarded(text) for text in table[name].to_pylist()]
            table = table.set_column(at, name, pa.array(texts, pa.string()))
    return table


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise HushwayError(
            f"The library {name} is not installed, and hushway does without it.",
            advice=f"Install it: pip install {name}. Or take the table by .arrow().",
        ) from None

"""A release as its readers take it in: tables for their libraries, and a summary for notebooks."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushway.errors import HushwayError, ReleaseError, damaged
from hushway.escaping import visible
from hushway.families.registry import family_certified
from hushway.families.sealed import read_certificate, read_facts, sealed_release
from hushway.privacy.certificate import Certificate, parsed_json
from hushway.privacy.signing import PublicKey
from hushway.release.documents.papers import PACKAGE, PICTURE
from hushway.release.folder.seal import files_of
from hushway.release.folder.subject import signature_warning
from hushway.release.others import named
from hushway.release.untrusted.limits import PAPER_BYTES, PICTURE_BYTES, read_plain, unguarded
from hushway.release.wording import claim_text, counted_sentence, guarantee

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from hushway.release.questions.answers import Answer
    from hushway.release.questions.cells import AskedCells, Where

_ENDINGS = (".parquet", ".csv")
_GEO = ".geo"
_COUNT = "count"
_BATCH_ROWS = 1 << 16
_TRUSTED = "Opened as trusted: neither its seal nor its signature was checked."


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Release:
    """A published release, as it was sealed and signed. Made by `hushway.open`.

    Attributes:
        folder: Where it is.
        certificate: What it claims.
        warning: What to beware of: that nobody signed it, or a key that was not compared, or that
            nothing was checked. None if it is signed by the key that was given.
        limited: Whether its tables are read within the limits for strangers' files.
    """

    folder: Path
    certificate: Certificate
    warning: str | None
    limited: bool
    _resources: Mapping[str, Mapping[str, Any]] = field(repr=False)

    def __repr__(self) -> str:
        title, name = visible(self.certificate.title), visible(self.certificate.release_id)
        warning = "" if self.warning is None else f", warning={self.warning!r}"
        return f"Release(title={title!r}, id={name!r}, tables={self.tables}{warning})"

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of its tables; the first is what the release is about."""
        return tuple(self._resources)

    def arrow(self, name: str | None = None) -> "pa.Table":
        """Returns a table for Arrow.

        Args:
            name: One of `tables`; the first unless said.

        Raises:
            ReleaseError: There is no such table, or it takes more memory than a stranger's may.
        """
        from hushway.release.untrusted.table import open_table

        resource = self._resource(name)
        path = self.folder / resource["path"]
        if path.suffix == ".csv":
            return _csv_table(path, resource["schema"]["fields"], limited=self.limited)
        with open_table(path, limited=self.limited) as file:
            return file.read()

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

    @cached_property
    def cells(self) -> "AskedCells":
        """Its numbers, to be added up.

        Raises:
            ReleaseError: Its files are not as hushway writes them, or it cannot be asked.
        """
        family = family_certified(self.certificate.terms.release_type)
        found = family.asked(self.folder, self.certificate, read_facts(self.folder))
        return replace(found, learnt=bool(named(self.certificate)))

    def sum(self, **where: "str | Sequence[str]") -> "Answer":
        """Returns a sum of published numbers with an interval of 95%; it costs nothing.

        Args:
            where: Labels to add up, by dimension (`release.cells.dimensions` names them): ids,
                names or zones, such as `origins=["A", "B"], periods="08:00"`.

        Raises:
            ReleaseError: The release has no such label, or its sums cannot be told.

        Example:
            >>> hushway.open("release").sum(origins="a").label
            'origins a'
        """
        from hushway.release.questions.answers import total

        return total(self.cells, where)

    def mean(self, per: str = "periods", **where: "str | Sequence[str]") -> "Answer":
        """Returns a sum, divided by how many labels of a dimension are in it."""
        from hushway.release.questions.answers import total

        return total(self.cells, where, per=per)

    def difference(self, where: "Where", minus: "Where") -> "Answer":
        """Returns one sum minus another, each given by its labels as for `sum`."""
        from hushway.release.questions.answers import difference

        return difference(self.cells, where, minus)

    def ratio(self, where: "Where", over: "Where") -> "Answer":
        """Returns one sum divided by another, each given by its labels as for `sum`."""
        from hushway.release.questions.answers import ratio

        return ratio(self.cells, where, over)

    def top(self, top: int, by: str, **where: "str | Sequence[str]") -> "tuple[Answer, ...]":
        """Returns the largest sums by a dimension, the largest first."""
        from hushway.release.questions.answers import largest

        return tuple(largest(self.cells, where, by=by, top=top))

    def _resource(self, name: str | None) -> Mapping[str, Any]:
        asked = self.tables[0] if name is None else name
        if asked not in self._resources:
            raise ReleaseError(
                f"The release has no table {asked!r}.",
                advice=f"Its tables are: {', '.join(self.tables)}.",
            )
        return self._resources[asked]

    @cached_property
    def _size_text(self) -> str:
        """The rows of the first table and the sum of its counts; it is never held whole."""
        from hushway.release.untrusted.table import open_table

        path = self.folder / self._resource(None)["path"]
        try:
            if path.suffix == ".csv":
                return _size_text(self.arrow().num_rows, None)
            with open_table(path, limited=self.limited) as file:
                return _size_text(file.metadata.num_rows, _sum_of_counts(file))
        except ReleaseError as problem:
            return str(problem)

    def _repr_html_(self) -> str:
        """Shows the picture, sums, error and guarantee in a notebook; nothing is fetched."""
        picture = read_plain(self.folder / PICTURE, PICTURE_BYTES)
        certificate = self.certificate
        facts = {
            "Release": f"{certificate.release_id}, {certificate.created_at}",
            "Counted": counted_sentence(certificate),
            "Guarantee": f"{guarantee(certificate)} {claim_text(certificate)}.",
            "Error": certificate.terms.error,
            f"Table {self.tables[0]}": self._size_text,
            "Tables": ", ".join(self.tables),
        }
        image = base64.b64encode(picture).decode()
        return (
            f"<h3>{escape(visible(certificate.title))}</h3>{self._warning_html()}"
            f"<img alt='What the release shows' style='max-width:100%' "
            f"src='data:image/png;base64,{image}'><table>{_html_rows(facts)}</table>"
        )

    def _warning_html(self) -> str:
        if self.warning is None:
            return ""
        style = "border-left:4px solid #8a3b00;padding-left:12px"
        return f"<p style='{style}'><strong>Warning.</strong> {escape(self.warning)}</p>"


def _html_rows(facts: Mapping[str, str]) -> str:
    return "".join(
        f"<tr><th style='text-align:left'>{escape(visible(name))}</th>"
        f"<td style='text-align:left'>{escape(visible(text))}</td></tr>"
        for name, text in facts.items()
    )


def _size_text(rows: int, total: float | None) -> str:
    return f"{rows:,} rows" if total is None else f"{rows:,} rows, {total:,.0f} in all"


def _sum_of_counts(file: "pq.ParquetFile") -> float | None:
    """Returns the sum of the counts, read some rows at a time; None if there are none."""
    import pyarrow.compute as pc

    if _COUNT not in file.schema_arrow.names:
        return None
    batches = file.iter_batches(batch_size=_BATCH_ROWS, columns=[_COUNT])
    return sum(pc.sum(batch[_COUNT]).as_py() or 0 for batch in batches)


def open_release(
    folder: Path | str, *, key: PublicKey | None = None, trusted: bool = False
) -> Release:
    """Opens a release whose files are as they were sealed, and whose signature is valid.

    That shows changes. Whether all that the release claims adds up is for `hushway.verify` to say.
    Tables are read within limits, so that a stranger's release cannot take the machine.

    Args:
        folder: The release.
        key: The publisher's public key; with it the release must be signed, and by this key.
        trusted: True for a release of your own, or of a publisher whom you know, that lies where
            nobody else can change it: neither seal nor signature is checked, and tables are read
            however large they are.

    Raises:
        ReleaseError: There is no release, a file was changed, added or taken away, or the
            signature is not valid or by another key.

    Example:
        >>> release = hushway.open("release")
        >>> release.tables[0]
        'trips'
        >>> release.arrow("places").column_names
        ['id', 'name', 'lat', 'lon', 'zone']
        >>> print(release.certificate.title)
        A little release
        >>> print(release.warning.partition(":")[0])
        Not signed
    """
    place = Path(folder)
    if not place.is_dir():
        raise ReleaseError(f"There is no folder {place.name}.", advice="Give a release's folder.")
    if trusted and key is not None:
        raise ReleaseError(
            "A release cannot be opened as trusted and be checked against a key.",
            advice="Give the key, or trust it without one.",
        )
    certificate, warning = _looked_at(place, key, trusted=trusted)
    return Release(
        folder=place,
        certificate=certificate,
        warning=warning,
        limited=not trusted,
        _resources=_resources(place),
    )


def _looked_at(
    folder: Path, key: PublicKey | None, *, trusted: bool
) -> tuple[Certificate, str | None]:
    """Returns the certificate of a release, and what to beware of."""
    if trusted:
        return read_certificate(folder), _TRUSTED
    certificate, seal = sealed_release(folder, key=key)
    return certificate, None if key is not None else signature_warning(seal.signer)


def _resources(folder: Path) -> dict[str, Mapping[str, Any]]:
    """Returns the tables of a release by name.

    Raises:
        ReleaseError: Its data package does not describe any.
    """
    try:
        found = _described(folder)
    except (ValueError, TypeError, LookupError, AttributeError):
        found = {}
    if not found:
        raise damaged(f"{PACKAGE} does not describe the tables of the release.")
    return found


def _described(folder: Path) -> dict[str, Mapping[str, Any]]:
    """Returns the tables by name; of two formats of one table, the one that is quicker to read."""
    sealed = set(files_of(folder))
    listed = parsed_json(read_plain(folder / PACKAGE, PAPER_BYTES))["resources"]
    found: dict[str, Mapping[str, Any]] = {}
    for ending in _ENDINGS:
        for resource in listed:
            path = str(resource["path"])
            # A path that leads out of the folder is none of the sealed ones.
            if path in sealed and path.endswith(ending) and _has_columns(resource):
                found.setdefault(path.removesuffix(ending), resource)
    order: dict[str, int] = {}
    for at, resource in enumerate(listed):
        order.setdefault(str(resource["path"]).rpartition(".")[0], at)
    return dict(sorted(found.items(), key=lambda each: order[each[0]]))


def _has_columns(resource: Mapping[str, Any]) -> bool:
    fields = resource["schema"]["fields"] if "schema" in resource else []
    return bool(fields) and all(
        isinstance(each["name"], str) and isinstance(each["type"], str) for each in fields
    )


def _csv_table(path: Path, fields: list[Mapping[str, str]], *, limited: bool) -> "pa.Table":
    """Reads a table as the data package describes it: an id of digits stays text."""
    import pyarrow as pa

    from hushway.release.untrusted.table import read_csv

    kinds = {"integer": pa.int64(), "number": pa.float64()}
    types = {each["name"]: kinds.get(each["type"], pa.string()) for each in fields}
    table = read_csv(path, types, limited=limited)
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

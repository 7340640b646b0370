"""What the values of a column are: ids, numbers, days or times."""

from typing import Final, Literal

import pyarrow as pa

from hushway.errors import DataError

Kind = Literal[
    "integer",
    "text",
    "number",
    "day",
    "naive time",
    "zoned time",
    "list of integers",
    "list of texts",
]

_NUMBERS: Final = (
    *("lon", "lat", "speed", "heading"),
    *("origin_lon", "origin_lat", "destination_lon", "destination_lat"),
)
_LISTS: Final = (pa.ListType, pa.LargeListType, pa.FixedSizeListType)


def kind_of(role: str, column: str, kind: pa.DataType) -> Kind:
    """Returns what the values of a column are, by its type and what it is for.

    Args:
        role: What the column is for.
        column: Its name, for messages.
        kind: Its type.

    Raises:
        DataError: Values of that type cannot be what the column is for.
    """
    if role == "stops" and isinstance(kind, _LISTS):
        listed = _id_kind(role, column, kind.value_type)
        return "list of integers" if listed == "integer" else "list of texts"
    if role == "stops":
        if _is_text(kind):
            return "text"
        raise DataError(
            f"Column {column!r} ({role}) holds neither lists nor text.",
            advice="Write the stops as a list of ids, or as a text with a separator.",
        )
    if role in _NUMBERS:
        return _number_kind(role, column, kind)
    if role in ("service_date", "day") and pa.types.is_date(kind):
        return "day"
    return _time_kind(role, column, kind) if role == "time" else _id_kind(role, column, kind)


def _is_text(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.DictionaryType):
        kind = kind.value_type
    text: bool = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return text or bool(pa.types.is_string_view(kind))


def _time_kind(role: str, column: str, kind: pa.DataType) -> Kind:
    if _is_text(kind):
        return "text"
    if isinstance(kind, pa.TimestampType):
        return "naive time" if kind.tz is None else "zoned time"
    raise DataError(
        f"Column {column!r} ({role}) holds neither timestamps nor text.",
        advice="Write it as a timestamp, or as text such as 2026-03-02T08:15:00.",
    )


def _number_kind(role: str, column: str, kind: pa.DataType) -> Kind:
    if pa.types.is_floating(kind):
        return "number"
    raise DataError(
        f"Column {column!r} ({role}) does not hold floating-point numbers.",
        advice="Write it as floating-point numbers; longitude and latitude in degrees.",
    )


def _id_kind(role: str, column: str, kind: pa.DataType) -> Literal["integer", "text"]:
    if isinstance(kind, pa.DictionaryType):
        kind = kind.value_type
    if _is_text(kind):
        return "text"
    if pa.types.is_integer(kind):
        # Beyond 64 signed bits numbers are compared as what they are written as.
        return "text" if pa.types.is_uint64(kind) else "integer"
    raise DataError(
        f"Column {column!r} ({role}) holds ids that are neither integers nor text.",
        advice="Write ids as integers or text. Decimal numbers such as 7.0 often come from a "
        "column of integers with gaps: turn it into nullable integers first.",
    )

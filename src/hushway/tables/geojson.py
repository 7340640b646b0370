"""Collections of GeoJSON features, whatever they stand for."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hushway.errors import GeographyError
from hushway.tables.first_lines import open_text


@dataclass(frozen=True, kw_only=True)
class Feature:
    """One feature as written.

    Attributes:
        where: Its place in the file, for messages.
        own_id: The member `id` beside the properties; None if there is none.
        properties: Its properties.
        geometry: Its geometry, not yet looked at; None if there is none.
    """

    where: str
    own_id: Any
    properties: Mapping[str, Any]
    geometry: Any


@dataclass(frozen=True, kw_only=True)
class FeatureCollection:
    """The features of a file.

    Attributes:
        features: The features, in the order of the file.
        crs: The name in the `crs` member of old GeoJSON, "" if it has none; None without one.
    """

    features: tuple[Feature, ...]
    crs: str | None


def read_features(file: Path, noun: str) -> FeatureCollection:
    """Returns the features of a file; an empty file has none.

    Raises:
        GeographyError: The file is not a collection of features.
        OSError: The file cannot be read.
        EOFError: The file is cut off.
        UnicodeDecodeError: The file is not UTF-8.
    """
    with open_text(file) as opened:
        text = opened.read()
    if not text.strip():
        return FeatureCollection(features=(), crs=None)
    try:
        facts = json_facts(text)
    except HalfCharacterError:
        raise GeographyError(
            f"The {noun} file {file.name} holds a text that is not Unicode: half of a pair of "
            "surrogates.",
            advice="Look for \\ud8 to \\udf in it, and write the character that was meant.",
        ) from None
    except (ValueError, RecursionError):
        facts = None
    features = facts.get("features") if isinstance(facts, dict) else None
    if not isinstance(facts, dict) or not isinstance(features, list):
        raise GeographyError(
            f"The {noun} file {file.name} is not a GeoJSON collection of features.",
            advice='Give {"type": "FeatureCollection", "features": [...]}.',
        )
    return FeatureCollection(
        features=tuple(
            _feature(file, feature, f"feature {number}")
            for number, feature in enumerate(features, start=1)
        ),
        crs=_crs_name(facts.get("crs")),
    )


def damaged_feature(file: Path, where: str) -> GeographyError:
    """Returns the error for something that is no feature."""
    return GeographyError(
        f"The {where} of {file.name} is not a GeoJSON feature with a geometry.",
        advice="Check the file with any GeoJSON viewer.",
    )


def id_text(file: Path, value: Any, where: str) -> str:
    """Returns an id, a name or a label as text; "" if there is none."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise GeographyError(
        f"The {where} of {file.name} has an id, name, zone or label that is neither text nor a "
        "whole number.",
        advice='Write 7 or "7", not 7.0: ids are compared as text, and rows would not match.',
    )


def _feature(file: Path, facts: Any, where: str) -> Feature:
    properties = facts.get("properties") or {} if isinstance(facts, dict) else None
    if not isinstance(properties, dict):
        raise damaged_feature(file, where)
    return Feature(
        where=where,
        own_id=facts.get("id"),
        properties=properties,
        geometry=facts.get("geometry"),
    )


def _crs_name(crs: Any) -> str | None:
    if crs is None:
        return None
    try:
        return str(crs["properties"]["name"])
    except (KeyError, TypeError):
        return ""


# How half of a pair is spelt; both halves of a pair are fine.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


class HalfCharacterError(ValueError):
    """A text holds half of a pair of surrogates: no file, table or screen could take it."""


def json_facts(text: str | bytes) -> Any:
    """Returns what JSON says.

    Raises:
        HalfCharacterError: A text in it is not Unicode.
        ValueError: It is not JSON, or not in an encoding of Unicode.
        RecursionError: It is nested too deeply.
    """
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text))
    facts = json.loads(text)
    if _HALF.search(text):
        try:
            json.dumps(facts, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            # Without the original error, which quotes the text.
            raise HalfCharacterError from None
    return facts

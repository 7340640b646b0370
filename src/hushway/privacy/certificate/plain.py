"""Plain values: what may stand on a certificate, and the one way to write it down."""

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NoReturn

from hushway.errors import PrivacyError
from hushway.privacy.internal import Internal

_PATH = re.compile(r"""(^|[\s"'(\[=,:])(~?(/[\w.~@+-]+){2,}|~/|[A-Za-z]:\\|\\\\\w|file:/)""")
_MOST_DEEP = 20
# As many points as the shapes of a release may have: each is a list of two numbers.
_MOST_PARTS = 1 << 21
_LONGEST_NUMBER = 400


def canonical_json(facts: Mapping[str, Any]) -> bytes:
    """Returns the one way to write facts as JSON: sorted keys, two spaces, a last newline."""
    text = json.dumps(facts, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def parsed_json(data: bytes) -> Any:
    """Reads JSON without its extensions (no NaN, no infinity) and within limits.

    Three bytes can open and close a list, which takes sixty in memory: so lists and objects are
    counted before any is made.

    Raises:
        ValueError: The bytes are not JSON, or hold more lists, longer numbers or deeper nesting
            than any file of hushway.
    """
    if data.count(b"[") + data.count(b"{") > _MOST_PARTS:
        raise ValueError("more lists and objects than any file of hushway has")
    try:
        return json.loads(
            data.decode(), parse_constant=_refuse_number, parse_int=_whole, parse_float=_decimal
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _whole(text: str) -> int:
    return int(text) if len(text) <= _LONGEST_NUMBER else _refuse_number("A long number")


def _decimal(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_number("A number beyond all floats")


def _refuse_number(name: str) -> NoReturn:
    message = f"{name} is not a number that hushway writes"
    raise ValueError(message)


def check_whole(name: str, number: object) -> None:
    """Refuses anything but a whole number above 0."""
    if type(number) is not int or number < 1:
        raise PrivacyError(f"The {name} is not a whole number above 0.", advice="Count again.")


def check_moment(text: str) -> None:
    """Refuses anything but a UTC time to the second."""
    try:
        moment = datetime.fromisoformat(text)
        fits = moment.utcoffset() == timedelta(0) and moment.microsecond == 0 and "." not in text
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise PrivacyError(
            "The time of creation is not a UTC time to the second.",
            advice='Use datetime.now(UTC).isoformat(timespec="seconds").',
        )


def check_texts(name: str, texts: Sequence[str], *, may_be_empty: bool = False) -> None:
    """Refuses anything but a tuple of texts that may be published."""
    if not isinstance(texts, tuple) or (not texts and not may_be_empty):
        raise PrivacyError(
            f"The certificate's {name} must be a tuple of sentences.", advice="Say at least one."
        )
    for text in texts:
        check_text(name, text)


def check_text(name: str, text: object) -> None:
    """Refuses anything but one line of text without a path in it."""
    if isinstance(text, Internal):
        refuse_internal(name)
    if not isinstance(text, str) or not text.strip():
        raise PrivacyError(
            f"The certificate's {name} must be a text.",
            advice="Write it in words; do not leave it empty.",
        )
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in text):
        raise PrivacyError(
            f"The certificate's {name} holds a control character.", advice="Write it on one line."
        )
    if _PATH.search(text):
        raise PrivacyError(
            f"The certificate's {name} seems to hold a path of a private machine.",
            advice="A certificate is public: name the data set instead of its file.",
        )


def plain(name: str, value: Any, depth: int = 0) -> Any:
    """Returns a copy made of plain JSON values only, and refuses anything else."""
    if isinstance(value, Internal):
        refuse_internal(name)
    if depth > _MOST_DEEP:
        raise PrivacyError(f"The {name} are nested too deeply.", advice="Flatten them.")
    if (
        value is None
        or type(value) in (bool, int)
        or (type(value) is float and math.isfinite(value))
    ):
        return value
    if isinstance(value, str):
        if value:
            check_text(name, value)
        return str(value)
    if isinstance(value, Mapping):
        for key in value:
            check_text(f"key in {name}", key)
        return {str(key): plain(name, part, depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(name, part, depth + 1) for part in value]
    raise PrivacyError(
        f"The {name} hold a {type(value).__name__}, which is not plain JSON.",
        advice="Use text, whole numbers, lists and dictionaries; write fractions as text.",
    )


def refuse_internal(name: str) -> NoReturn:
    """Refuses a value that saw exact data."""
    raise PrivacyError(
        f"The certificate's {name} hold a value that was computed against the truth.",
        advice="Internal values carry no guarantee and never leave the building.",
    )

"""JSON whose texts are texts: half a character, which JSON can spell, is none."""

import json
import re
from typing import Any

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

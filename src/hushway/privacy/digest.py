"""Digests of public facts, so that a certificate can name the geography it was made with."""

import hashlib
import json
from typing import Any


def digest_of(facts: dict[str, Any]) -> str:
    """Returns the SHA-256 of public facts, independent of key order and platform."""
    canonical = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()

"""Digests of everything that little plans publish with a seed, to see whether a change changes it.

`python -m support.same_bytes` in the folder of tests writes them down again. Do that when a release
is meant to change, or a library that writes files does; never to make a test pass.
"""

import hashlib
import json
import re
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from hushway.families.load import plan_from, prepare
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.privacy.randomness import SeededSource
from hushway.steward.publish import publish
from support.little_plans import FAMILIES, little_plan, plans_of, write_little_files

WRITTEN = Path(__file__).with_suffix(".json")
# Its version is in every Parquet file, so digests are those of one version.
WRITER = "pyarrow"
_SEED = 20_260_301
# What differs from run to run, besides the day: names and moments of releases, and digests of files
# with those.
_PASSING = re.compile(rb"[a-z]+-\d{8}t\d{6}z-[0-9a-f]{16}|todayT\d\d:\d\d:\d\d\+00:00|[0-9a-f]{64}")
# Pixels depend on more than this product: another processor rounds a turned letter otherwise, and
# the last digits of metres as well. So do the sizes of files with such a thing in them.
_PICTURE = "picture.png"
_DRAWN = re.compile(
    rb'base64,[A-Za-z0-9+/=]+|"bytes": \d+|"contentSize": "\d+ B"|"dcat:byteSize": \{[^}]*\}'
)
_LONG = re.compile(rb"-?\d+\.\d{9,}(?:e[+-]?\d+)?")
PLANS: dict[str, tuple[str, dict[str, Any]]] = {
    **{family: (family, {}) for family in FAMILIES},
    **plans_of("SEEDED_PLANS"),
}


def digests_of(
    name: str,
    folder: Path,
    engine: dict[str, Any] | None = None,
    move: Callable[[dict[str, Any], Path], None] | None = None,
) -> dict[str, str]:
    """Publishes a little plan in an empty folder, and returns a digest for each file.

    Args:
        name: Which plan.
        folder: The folder.
        engine: What the plan says of the engine besides the usual.
        move: Moves the rows of the plan out of their file, and says so in the plan.
    """
    family, changes = PLANS[name]
    write_little_files(folder)
    facts = {**little_plan(family), **changes}
    facts["engine"] = facts["engine"] | (engine or {})
    if move is not None:
        move(facts["data"], folder)
    job = prepare(plan_from(facts, folder=folder))
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.ZCDP, Fraction(1000)))
    published = publish(job, anyway=True, source=SeededSource(_SEED))
    release, today = published.folder, published.certificate.created_at[:10].encode()
    return {
        str(file.relative_to(release)): _digest(file.read_bytes().replace(today, b"today"))
        for file in sorted(release.rglob("*"))
        if file.is_file() and file.name != _PICTURE
    }


def _digest(data: bytes) -> str:
    lasting = _DRAWN.sub(b"...", _PASSING.sub(b"...", data))
    rounded = _LONG.sub(lambda number: b"%.6g" % float(number.group()), lasting)
    return hashlib.sha256(rounded).hexdigest()


def main() -> None:
    """Writes the digests down."""
    with tempfile.TemporaryDirectory() as made:
        found: dict[str, Any] = {}
        for position, name in enumerate(PLANS):
            folder = Path(made) / str(position)
            folder.mkdir()
            found[name] = digests_of(name, folder)
    found[WRITER] = pa.__version__
    WRITTEN.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

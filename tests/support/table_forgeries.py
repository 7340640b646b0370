"""Edits of published tables, as somebody who knows the software would make them.

One number of a table is changed before anything is written, so that every format, sum and paper
agrees with it, and the folder is sealed. What a verifier does not notice then is what nobody can
check without the publisher: `docs/reference/verify.md` lists it, file by file and column by column.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import hushway
from hushway.errors import HushwayError
from hushway.families.load import plan_from
from hushway.families.verify import verify
from hushway.families.write import publishable
from hushway.privacy.accounting import budget_limit_for
from hushway.privacy.certificate import Certificate, parsed_json
from hushway.privacy.loss import PureLoss, exact
from hushway.release.documents.papers import PACKAGE, PAPERS
from hushway.steward import publish as publishing
from support.forging import forged_release
from support.little_plans import little_plan, write_little_files

# Public lists, which the certificate names by digest; and which row continues which, where a circle
# would have no end.
_LEFT_ALONE = ("universe", "taxonomy", "periods", "feature", "parent")
VERIFY_PAGE = Path(__file__).parents[2] / "docs" / "reference" / "verify.md"
_PAPERS = {paper.path for paper in PAPERS} | {PACKAGE, "seal.json"}


def published_by_little_plan(family: str, folder: Path) -> tuple[Any, Certificate]:
    """Publishes the little plan of a family; returns the table and the certificate."""
    write_little_files(folder)
    job = hushway.prepare(plan_from(little_plan(family), folder=folder))
    delta = job.plan.privacy.delta
    limit = PureLoss(exact("4")) if delta is None else budget_limit_for(exact("4"), delta)
    with hushway.Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, limit, delta=delta)
    kept: list[tuple[Any, Certificate]] = []

    def keep(table: object, certificate: Certificate) -> Any:
        kept.append((table, certificate))
        return publishable(table, certificate)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publishing, "publishable", keep)
        hushway.publish(job)
    return kept[0]


def columns_that_may_be_edited(table: Any, certificate: Certificate, scratch: Path) -> set[str]:
    """Returns the columns of a release that can be edited without a verifier's notice."""
    before = columns(forged_release(scratch / "as it is", table=table, certificate=certificate))
    found = set()
    for number, other in enumerate(edits(table)):
        folder = scratch / str(number)
        try:
            forged_release(folder, table=other, certificate=certificate)
        except (HushwayError, ValueError, IndexError, OverflowError):
            continue
        if verify(folder).passed:
            after = columns(folder)
            found |= {name for name in before | after if before.get(name) != after.get(name)}
    return found


def documented_columns(family: str) -> set[str]:
    """Returns the columns that docs/reference/verify.md says nobody can check, for a family.

    Its table has rows such as `| links | rest.csv | count, km | ... |`; a file without columns is
    meant as a whole.
    """
    text = VERIFY_PAGE.read_text("utf-8").split("### Columns\n")[1].split("\n### ")[0]
    rows = re.findall(r"^\| ([a-z]+) \| (`[^|]+`) \| ([^|]*) \|", text, flags=re.MULTILINE)
    return {
        f"{file}: {column}" if column else file
        for kind, files, named in rows
        if kind == family
        for file in re.findall(r"`([^`]+)`", files)
        for column in re.findall(r"`([^`]+)`", named) or [""]
    }


def columns(folder: Path) -> dict[str, Any]:
    """Returns the values of every column of every file of a release, by `file: column`."""
    package = parsed_json((folder / PACKAGE).read_bytes())
    found: dict[str, Any] = {f"{PACKAGE}: {key}": fact for key, fact in package["table"].items()}
    for resource in package["resources"]:
        path = resource["path"]
        if path in _PAPERS:
            continue
        if "schema" in resource:
            names = (f"{path}: {name}" for name in _values(folder / path))
            found |= dict(zip(names, _values(folder / path).values(), strict=True))
        else:
            found[path] = (folder / path).read_bytes()
    return found


def _values(path: Path) -> Mapping[str, Any]:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pydict()
    header, *rows = csv.reader(io.StringIO(path.read_text("utf-8"), newline=""))
    return {name: [row[at] for row in rows] for at, name in enumerate(header)}


def edits(value: Any) -> Iterator[Any]:
    """Yields a table with one of its numbers changed, again and again."""
    match value:
        case bool() | str() | None:
            return
        case int() | float():
            yield value + 1
        case np.ndarray():
            yield from _other_arrays(value)
        case tuple() | list():
            for at, part in enumerate(value):
                yield from ((*value[:at], other, *value[at + 1 :]) for other in edits(part))
        case Mapping():
            yield from ({**value, key: other} for key, other in _parts(value))
        case _ if is_dataclass(value) and not isinstance(value, type):
            named = {field.name: getattr(value, field.name) for field in fields(value)}
            yield from (replace(value, **{name: other}) for name, other in _parts(named))


def _parts(named: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, part in named.items():
        if name not in _LEFT_ALONE:
            yield from ((name, other) for other in edits(part))


def _other_arrays(array: Any) -> Iterator[Any]:
    """Yields an array with the first or the last number that is not 0 raised by one."""
    if array.dtype == bool or not array.size:
        return
    there = np.flatnonzero(array)
    for place in {int(there[0]), int(there[-1])} if there.size else {0}:
        edited = array.copy()
        edited.flat[place] += 1
        yield edited

"""Only published sums leave the building."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.errors import PrivacyError, ReleaseError
from hushway.families.od.fit.random_effects import RandomEffects
from hushway.families.od.fit.table import MarginTable, ODTable
from hushway.families.od.public.features import Feature, total_feature
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.privacy.measured import Internal
from support.od_scenes import small_certificate

Spoil = Callable[[ODTable], ODTable]


def first(table: ODTable, **changes: Any) -> ODTable:
    """Changes the first margin of a table."""
    margin, *others = table.margins
    return dataclasses.replace(table, margins=(dataclasses.replace(margin, **changes), *others))


class Fuller(MarginTable):
    """Could carry anything."""


def of_other_cells(table: ODTable) -> Feature:
    universe = dataclasses.replace(table.universe, include_intrazonal=True)
    return total_feature(universe)


def with_effect(table: ODTable, origin: float) -> ODTable:
    names = [field.name for field in dataclasses.fields(RandomEffects)]
    effects = RandomEffects(**dict.fromkeys(names, 0.5) | {"origin": origin})
    return dataclasses.replace(table, effects=effects)


SPOILT: dict[str, Spoil] = {
    "internal": lambda t: first(t, measured=Internal(t.margins[0].measured)),
    "internal sums": lambda t: dataclasses.replace(t, margins=Internal(t.margins)),
    "a list": lambda t: dataclasses.replace(t, margins=list(t.margins)),
    "floats": lambda t: first(t, measured=t.margins[0].measured.astype(float)),
    "whole fitted": lambda t: first(t, fitted=t.margins[0].measured),
    "too many": lambda t: first(t, measured=np.zeros(2, dtype=np.int64)),
    "too few fitted": lambda t: first(t, fitted=np.zeros(0)),
    "not finite": lambda t: first(t, fitted=np.array([np.inf])),
    "too large": lambda t: first(t, measured=np.array([2**62])),
    "too few errors": lambda t: first(t, errors=np.zeros(0)),
    "whole errors": lambda t: first(t, errors=np.ones(1, dtype=np.int64)),
    "a list of errors": lambda t: first(t, errors=[1.0]),
    "internal errors": lambda t: first(t, errors=Internal(np.ones(1))),
    "negative errors": lambda t: first(t, errors=-np.ones(1)),
    "errors without end": lambda t: first(t, errors=np.array([np.inf])),
    "a negative effect": lambda t: with_effect(t, -0.5),
    "no effect": lambda t: with_effect(t, np.nan),
    "a whole effect": lambda t: with_effect(t, 2),
    "internal effects": lambda t: dataclasses.replace(t, effects=Internal(t.effects)),
    "no error": lambda t: first(t, standard_error=np.nan),
    "negative error": lambda t: first(t, standard_error=-1.0),
    "text error": lambda t: first(t, standard_error="1"),
    "other cells": lambda t: first(t, feature=of_other_cells(t)),
    "no published total": lambda t: first(t, feature="total"),
    "a subclass": lambda t: dataclasses.replace(
        t,
        margins=(
            Fuller(
                feature=t.margins[0].feature,
                measured=t.margins[0].measured,
                standard_error=1.0,
                fitted=t.margins[0].fitted,
            ),
        ),
    ),
    "twice": lambda t: dataclasses.replace(t, margins=(*t.margins, t.margins[0])),
    "diagnostics": lambda t: dataclasses.replace(t, diagnostics={"truth": Internal(3)}),
    "odd diagnostics": lambda t: dataclasses.replace(t, diagnostics={"bound": np.float64(3)}),
    "both left out": lambda t: dataclasses.replace(t, threshold=1),
    "no truth value": lambda t: dataclasses.replace(t, zeros_left_out=1),
    "a zero": lambda t: dataclasses.replace(t, counts=np.maximum(t.counts - t.counts.min(), 0)),
    "not all cells": lambda t: dataclasses.replace(t, zeros_left_out=False),
    "huge counts": lambda t: dataclasses.replace(t, counts=np.full_like(t.counts, 2**60)),
}


@pytest.mark.parametrize("name", SPOILT)
def test_only_published_sums_leave_the_building(tmp_path: Path, summed: ODTable, name: str) -> None:
    with pytest.raises(PrivacyError) as caught:
        write_release(
            tmp_path / "r", table=SPOILT[name](summed), certificate=small_certificate(summed)
        )
    assert caught.value.advice
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("limit", ["MOST_FEATURES", "MOST_SUMS", "MOST_LABELS"])
def test_more_sums_than_a_verifier_reads_are_not_written(
    *, tmp_path: Path, summed: ODTable, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(f"hushway.families.od.files.guard.{limit}", 4)
    with pytest.raises(ReleaseError, match="at most"):
        write_release(tmp_path / "r", table=summed, certificate=small_certificate(summed))


def test_a_table_of_nothing_adds_up(tmp_path: Path, summed: ODTable) -> None:
    empty = dataclasses.replace(
        summed,
        cells=summed.cells[:0],
        counts=summed.counts[:0],
        standard_errors=summed.standard_errors[:0],
    )
    folder = write_release(tmp_path / "r", table=empty, certificate=small_certificate(empty))
    assert verify(folder).passed


def test_features_without_pair_labels_write_no_pairs(tmp_path: Path, summed: ODTable) -> None:
    few = dataclasses.replace(summed, margins=summed.margins[:2])
    folder = write_release(tmp_path / "r", table=few, certificate=small_certificate(few))
    assert verify(folder).passed
    assert not (folder / "pairs.parquet").exists()


def test_zeros_may_be_left_out_without_sums(tmp_path: Path, summed: ODTable) -> None:
    plain = dataclasses.replace(summed, margins=())
    folder = write_release(tmp_path / "r", table=plain, certificate=small_certificate(plain))
    assert verify(folder).passed
    assert not (folder / "adds-up.json").exists()

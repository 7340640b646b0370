"""OD tables for researchers: mechanisms, scenes to try them on, errors, and a synthetic city.

What was computed against the truth comes wrapped in `Internal`, and cannot be published.
"""

from typing import Any

from hushway.lazy_exports import face

__all__ = [
    "DenseLaplace",
    "Feature",
    "ODCells",
    "ODErrors",
    "ODScene",
    "ODTable",
    "SparseLaplace",
    "ann_arbor",
    "city_features",
    "city_scene",
    "learned_shares",
    "od_cbdp",
    "od_errors",
    "od_hierarchical",
    "od_learned",
    "spends_of",
    "trips_scene",
    "try_out",
    "with_ends",
]

_find = face(
    __name__,
    {
        "city.ann_arbor": ("ann_arbor",),
        "mechanism.cbdp": ("od_cbdp",),
        "mechanism.hierarchical": ("od_hierarchical",),
        "mechanism.learned": ("od_learned", "with_ends"),
        "mechanism.laplace": ("DenseLaplace", "SparseLaplace"),
        "mechanism.shares": ("learned_shares", "spends_of"),
        "fit.table": ("ODTable",),
        "public.cells": ("ODCells",),
        "public.features": ("Feature",),
        "planning.trial": ("ODErrors", "ODScene", "od_errors", "trips_scene", "try_out"),
        "study.scene": ("city_features", "city_scene"),
    },
)


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return __all__

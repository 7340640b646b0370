"""Densities for researchers: mechanisms, scenes to try them on, errors, and a synthetic Paris.

What was computed against the truth comes wrapped in `Internal`, and cannot be published.
"""

from typing import Any

from hushway.lazy_exports import face

__all__ = [
    "ArrayVisits",
    "DensityErrors",
    "DensityScene",
    "DensityTable",
    "DensityUniverse",
    "VisitLimits",
    "area_truth",
    "density_errors",
    "density_series",
    "density_universe",
    "naive_laplace",
    "paris",
    "paris_scene",
]

_find = face(
    __name__,
    {
        "city.paris": ("paris",),
        "fit.table": ("DensityTable",),
        "mechanism.series": ("density_series", "naive_laplace"),
        "public.geometry": ("density_universe",),
        "public.visits": ("DensityUniverse", "VisitLimits"),
        "rows.counts": ("ArrayVisits",),
        "study.errors": ("DensityErrors", "density_errors"),
        "planning.trial": ("area_truth",),
        "study.scene": ("DensityScene", "paris_scene"),
    },
)


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return __all__

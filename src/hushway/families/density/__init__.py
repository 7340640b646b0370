"""Densities for researchers: mechanisms, scenes to try them on, errors, and a synthetic Paris.

What was computed against the truth comes wrapped in `Internal`, and cannot be published.
"""

from typing import TYPE_CHECKING

from hushway.lazy_exports import attach

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

if TYPE_CHECKING:
    from hushway.families.density.city.paris import paris
    from hushway.families.density.fit.table import DensityTable
    from hushway.families.density.mechanism.series import density_series, naive_laplace
    from hushway.families.density.planning.trial import area_truth
    from hushway.families.density.public.geometry import density_universe
    from hushway.families.density.public.visits import DensityUniverse, VisitLimits
    from hushway.families.density.rows.counts import ArrayVisits
    from hushway.families.density.study.errors import DensityErrors, density_errors
    from hushway.families.density.study.scene import DensityScene, paris_scene
else:
    __getattr__, __dir__ = attach(__name__, __all__)

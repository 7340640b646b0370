"""OD tables for researchers: mechanisms, scenes to try them on, errors, and a synthetic city.

What was computed against the truth comes wrapped in `Internal`, and cannot be published.
"""

from typing import TYPE_CHECKING

from hushway.lazy_exports import attach

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

if TYPE_CHECKING:
    from hushway.families.od.city.ann_arbor import ann_arbor
    from hushway.families.od.fit.table import ODTable
    from hushway.families.od.mechanism.cbdp import od_cbdp
    from hushway.families.od.mechanism.hierarchical import od_hierarchical
    from hushway.families.od.mechanism.laplace import DenseLaplace, SparseLaplace
    from hushway.families.od.mechanism.learned import od_learned, with_ends
    from hushway.families.od.mechanism.shares import learned_shares, spends_of
    from hushway.families.od.planning.trial import (
        ODErrors,
        ODScene,
        od_errors,
        trips_scene,
        try_out,
    )
    from hushway.families.od.public.cells import ODCells
    from hushway.families.od.public.features import Feature
    from hushway.families.od.study.reproduce import city_features, city_scene
else:
    __getattr__, __dir__ = attach(__name__, __all__)

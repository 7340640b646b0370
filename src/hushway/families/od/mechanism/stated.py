"""OD mechanisms as certificates state them."""

from collections.abc import Mapping, Sequence
from typing import Any

from hushway.errors import ReleaseError
from hushway.families.od.mechanism.cbdp import CBDP
from hushway.families.od.mechanism.hierarchical import Hierarchical
from hushway.families.od.mechanism.laplace import DenseLaplace, SparseLaplace
from hushway.families.od.mechanism.weights import Weights
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.privacy.certificate import MechanismRecord
from hushway.privacy.loss import PureLoss, exact
from hushway.release.stated_mechanism import rebuilt, stated_losses


def stated_od(
    record: MechanismRecord, cells: ODCells, features: Sequence[Feature]
) -> DenseLaplace | SparseLaplace | CBDP | Hierarchical:
    """Returns the mechanism of a certificate.

    Args:
        record: Name and parameters.
        cells: The public universe.
        features: The features of the release.

    Raises:
        ReleaseError: It is not one of this version, or measures other features.
    """
    builders = {"laplace": _laplace, "cbdp": _cbdp, "hierarchical": _hierarchical}
    if record.name not in builders:
        raise ReleaseError(
            f"The mechanism {record.name!r} is not one of OD tables.",
            advice="Verify with the version of hushway that the certificate names.",
        )
    build = builders[record.name]
    return rebuilt(record, lambda parameters: build(parameters, cells, tuple(features)))


def _laplace(
    parameters: Mapping[str, Any], _cells: ODCells, features: tuple[Feature, ...]
) -> DenseLaplace | SparseLaplace:
    spend = PureLoss(exact(parameters["epsilon"]))
    if features:
        raise ValueError
    if parameters["form"] == "dense":
        return DenseLaplace(spend=spend)
    return SparseLaplace(spend=spend, expected_false=float(parameters["expected_false"]))


def _cbdp(parameters: Mapping[str, Any], cells: ODCells, features: tuple[Feature, ...]) -> CBDP:
    return CBDP(
        universe=cells,
        features=features,
        spends=tuple(stated_losses(parameters)),
        weights=Weights(parameters["weights"]),
        controlled=parameters["rounding"] == "controlled",
        lazy=parameters["form"] == "lazy",
    )


def _hierarchical(
    parameters: Mapping[str, Any], cells: ODCells, features: tuple[Feature, ...]
) -> Hierarchical:
    return Hierarchical(
        universe=cells,
        features=features,
        spends=tuple(stated_losses(parameters)),
        prune=parameters["prune"],
        prune_early=parameters["prune_early"],
    )

"""Prefix trees as certificates state them."""

from collections.abc import Mapping
from typing import Any

from hushway.families.sequences.mechanism.thresholds import (
    ExpectedFalse,
    PaperThresholds,
    Thresholds,
)
from hushway.families.sequences.mechanism.tree import PrefixTree
from hushway.families.sequences.public.universe import SequenceUniverse
from hushway.privacy.certificate import MechanismRecord
from hushway.release.stated_mechanism import rebuilt, stated_losses


def stated_tree(record: MechanismRecord, universe: SequenceUniverse) -> PrefixTree:
    """Returns the mechanism of a certificate.

    Raises:
        ReleaseError: It is not one of this version.
    """

    def build(parameters: Mapping[str, Any]) -> PrefixTree:
        return PrefixTree(
            universe=universe,
            spends=tuple(stated_losses(parameters)),
            thresholds=_thresholds(parameters["thresholds"]),
            most_nodes=parameters["most_nodes"],
            supercritical=parameters["supercritical"],
        )

    return rebuilt(record, build)


def _thresholds(rule: Mapping[str, Any]) -> Thresholds:
    if rule["rule"] == "paper":
        return PaperThresholds()
    return ExpectedFalse(kappa=float(rule["kappa"]))

"""Prefix trees as certificates state them."""

from collections.abc import Mapping
from typing import Any

from hushway.geography.sequences import SequenceUniverse
from hushway.privacy.certificate import MechanismRecord
from hushway.releases.sequences.prefix_tree import PrefixTree
from hushway.releases.sequences.thresholds import ExpectedFalse, PaperThresholds, Thresholds
from hushway.releases.stated import rebuilt, stated_losses


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

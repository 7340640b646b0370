"""Prefix trees by name, and what their certificates say: from public facts alone."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, get_args

from hushway.errors import PlanError, ReleaseError
from hushway.families.sequences.mechanism.learned import LEARNED, LearnedSequences
from hushway.families.sequences.mechanism.steps import (
    ExpectedFalse,
    PaperThresholds,
    Thresholds,
    recommended_grain_shares,
    recommended_shares,
    recommended_thresholds,
    step_spends,
)
from hushway.families.sequences.mechanism.tree import MOST_NODES, PrefixTree
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.certificate import (
    Certificate,
    Contribution,
    MechanismRecord,
    Terms,
)
from hushway.privacy.loss import Loss
from hushway.release.terms import listed, rebuilt, stated_limits, stated_losses, terms_of
from hushway.release.wording import check_unit, plural

FAMILY = "sequences"
UNITS = (Unit.PERSON, Unit.DEVICE, Unit.RECORD)

RecordKind = Literal["day", "window", "row"]
_RECORDS: dict[RecordKind, str] = {
    "day": "A record is what one id did in one day of the window",
    "window": "A record is all that one id did in the window",
    "row": "A record is one row of the data",
}
_ASSUMED_PUBLIC = (
    "The list of places, their positions and their groups.",
    "The window of days, the periods and the time zone, if taps were counted.",
    "The mechanism, its parameters, the height of the tree and the contribution bound.",
)


SequenceMechanism = PrefixTree | LearnedSequences


def sequence_terms(
    mechanism: SequenceMechanism,
    universe: SequenceUniverse,
    *,
    unit: Unit,
    max_records: int,
    record: RecordKind,
) -> Terms:
    """Returns the terms of a release before it is measured.

    Args:
        mechanism: What will measure and publish.
        universe: The public taxonomy and periods.
        unit: Who is protected.
        max_records: Most records of one unit that are counted; 1 if the unit is a record.
        record: What one record is.

    Raises:
        PrivacyError: The unit is not one that sequences protect.
    """
    check_unit(unit, *UNITS, most=max_records)
    bound = Bound.of_records(max_records)
    limits: dict[str, Any] = {
        "records": max_records,
        "stops": mechanism.height,
        "record": record,
    }
    errors = mechanism.forecast(universe, bound)
    return terms_of(
        mechanism,
        universe,
        bound,
        release_type=FAMILY,
        unit=unit,
        contribution=Contribution(
            words=_contribution(unit, max_records, mechanism.height, record), limits=limits
        ),
        assumed_public=_ASSUMED_PUBLIC,
        error="Standard deviations of the noise, in records: " + listed(errors) + ".",
    )


def stated_terms(
    certificate: Certificate, universe: SequenceUniverse
) -> tuple[Terms, SequenceMechanism]:
    """Returns the terms that follow from what a certificate says was run, and the mechanism.

    Raises:
        ReleaseError: It was nothing that this version runs.
    """
    stated = certificate.terms
    most, _, record = stated_limits(stated.contribution, "records", "stops", "record")
    if record not in get_args(RecordKind):
        raise ReleaseError(
            "The certificate does not say what one record is.",
            advice="Verify with the version of hushway that the certificate names.",
        )
    mechanism = stated_mechanism(stated.mechanism, universe)
    terms = sequence_terms(mechanism, universe, unit=stated.unit, max_records=most, record=record)
    return terms, mechanism


def _contribution(unit: Unit, most: int, height: int, record: RecordKind) -> str:
    stops = f"the first {plural(height, 'stop')} of it"
    if not unit.has_many_records:
        return f"{_RECORDS[record]}. Each counts once, {stops}."
    return (
        f"{_RECORDS[record]}. At most {plural(most, 'record')} of a {unit} are counted, chosen "
        f"uniformly at random among all of that {unit}'s records, and of each one {stops}."
    )


def stated_mechanism(record: MechanismRecord, universe: SequenceUniverse) -> SequenceMechanism:
    """Returns the mechanism of a certificate.

    Raises:
        ReleaseError: It is not one of this version.
    """

    def learned(parameters: Mapping[str, Any]) -> LearnedSequences:
        return LearnedSequences(
            universe=universe,
            height=parameters["max_stops"],
            spends=tuple(stated_losses(parameters)),
        )

    def build(parameters: Mapping[str, Any]) -> PrefixTree:
        return PrefixTree(
            universe=universe,
            spends=tuple(stated_losses(parameters)),
            thresholds=_thresholds(parameters["thresholds"]),
            most_nodes=parameters["most_nodes"],
            supercritical=parameters["supercritical"],
        )

    if record.name == LEARNED:
        return rebuilt(record, learned)
    return rebuilt(record, build)


def _thresholds(rule: Mapping[str, Any]) -> Thresholds:
    if rule["rule"] == "paper":
        return PaperThresholds()
    return ExpectedFalse(expected_false_prefixes=float(rule["expected_false_prefixes"]))


def prefix_tree(  # noqa: PLR0913  one argument for each public choice
    universe: SequenceUniverse,
    *,
    budget: Loss,
    height: int,
    level_shares: Sequence[Fraction] | None = None,
    grain_shares: Sequence[Fraction] | None = None,
    thresholds: Thresholds | None = None,
    most_nodes: int = MOST_NODES,
    supercritical: bool = False,
) -> PrefixTree:
    """Returns a prefix tree; without a choice, shares and thresholds are the recommended ones.

    Privacy:
        The steps together cost exactly `budget`.

    Args:
        universe: The public taxonomy and periods.
        budget: What the whole tree may cost; its currency decides on the noise.
        height: The most stops of a published sequence.
        level_shares: The share of each stop in the budget.
        grain_shares: The share of each granularity in what a stop gets, the coarsest first.
        thresholds: From which noisy count on a candidate becomes a node.
        most_nodes: Where a tree that has grown too large stops.
        supercritical: Whether false nodes may multiply until `most_nodes`.

    Raises:
        PlanError: Shares do not add up to 1, or are not one for each stop and each granularity.
    """
    stops = recommended_shares(height) if level_shares is None else level_shares
    grains = recommended_grain_shares(universe) if grain_shares is None else grain_shares
    if len(stops) != height or len(grains) != universe.taxonomy.grains:
        raise PlanError(
            f"A tree of {height} stops and {universe.taxonomy.grains} granularities needs a share "
            f"for each; {len(stops)} and {len(grains)} are given.",
            advice="Give one share for each stop, and one for each granularity.",
        )
    return PrefixTree(
        universe=universe,
        spends=step_spends(budget, stops, grains),
        thresholds=recommended_thresholds() if thresholds is None else thresholds,
        most_nodes=most_nodes,
        supercritical=supercritical,
    )

"""The certificate of a tree is its own: every step was announced, and spent on if not taken."""

import dataclasses
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from hushway.errors import ReleaseError
from hushway.families.sequences.fit.table import SequenceTable
from hushway.families.write import write_release
from hushway.privacy.bound import Bound
from hushway.privacy.certificate import Certificate, MechanismRecord
from hushway.privacy.events import LaplaceEvent
from hushway.privacy.loss import PureLoss
from support.certificates import certificate_of
from support.forging import assert_contradiction

Build = Callable[..., SequenceTable]
Certify = Callable[..., Certificate]

# So little that nothing stands out from the noise.
MEAGRE = PureLoss(Fraction(1, 1000))


def test_every_tree_needs_its_own_certificate(
    tmp_path: Path, tree: SequenceTable, build: Build, certify_tree: Certify
) -> None:
    terms = certify_tree(tree).terms
    elsewhere = dataclasses.replace(terms.domain, digest="sha256:00")
    for certificate, words in (
        (certificate_of(terms, release_type="od"), "release type 'od'"),
        (certificate_of(terms, domain=elsewhere), "public lists are not those"),
        (certify_tree(build(times=True, height=2)), "public lists are not those"),
        (certify_tree(build(height=3)), "The steps of the table"),
        (certify_tree(build(seed=2)), "its events are not what"),
        (certificate_of(terms, events=terms.events[1:]), "its events are not what"),
    ):
        with pytest.raises(ReleaseError, match=words):
            write_release(tmp_path / "r", table=tree, certificate=certificate)
    assert list(tmp_path.iterdir()) == []


def test_steps_that_were_not_taken_are_paid_for(
    tmp_path: Path, build: Build, certify_tree: Certify
) -> None:
    table = build(spend=MEAGRE)
    certificate = certify_tree(table, spend=MEAGRE)
    terms = certificate.terms
    assert (len(terms.events), len(terms.not_taken)) == (1, 11)
    assert certificate.claim == PureLoss(12 * MEAGRE.epsilon)
    folder = write_release(tmp_path / "r", table=table, certificate=certificate)
    stated = json.loads((folder / "certificate.json").read_bytes())
    assert stated["claim"]["amount"] == str(certificate.claim.amount)
    assert len(stated["events_not_taken"]) == 11
    assert (folder / "certificate.html").read_text().count("not measured") == 11
    assert (folder / "label.yaml").read_text().count("spent, and not measured") == 11


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("none", "charged for and not measured are not what"),
        ("fewer", "charged for and not measured are not what"),
        ("other cells", "charged for and not measured are not what"),
        ("measured", "its events are not what"),
    ],
)
def test_what_was_reserved_cannot_be_left_off_the_certificate(
    tmp_path: Path, build: Build, certify_tree: Certify, *, name: str, words: str
) -> None:
    table = build(spend=MEAGRE)
    terms = certify_tree(table, spend=MEAGRE).terms
    first, *others = terms.not_taken
    changes = {
        "none": {"not_taken": ()},
        "fewer": {"not_taken": terms.not_taken[:-1]},
        "other cells": {"not_taken": (dataclasses.replace(first, cells=first.cells + 1), *others)},
        "measured": {"events": (*terms.events, first), "not_taken": tuple(others)},
    }
    other = certificate_of(terms, **changes[name])
    assert_contradiction(tmp_path / "r", table=table, certificate=other, words=words)


def test_the_noise_of_a_step_is_that_of_its_event(
    tmp_path: Path, tree: SequenceTable, certify_tree: Certify
) -> None:
    own = certify_tree(tree)
    first, event, last = own.terms.events[:3], own.terms.events[3], own.terms.events[4:]
    one = Bound.of_records(1)
    # It costs the same, and has half the noise for half the records.
    other = LaplaceEvent(
        query=event.query, cells=event.cells, bound=one, scale=1 / event.loss.amount
    )
    certificate = certificate_of(own.terms, events=(*first, other, *last))
    assert certificate.claim == own.claim
    assert_contradiction(
        tmp_path / "r", table=tree, certificate=certificate, words="its events are not what"
    )


@pytest.mark.parametrize("name", ["a lower threshold", "a higher threshold", "other noise"])
def test_every_step_has_the_threshold_and_the_noise_that_the_mechanism_gives_it(
    tmp_path: Path, tree: SequenceTable, certify_tree: Certify, name: str
) -> None:
    step = tree.steps[0]
    changes: dict[str, dict[str, object]] = {
        "a lower threshold": {"threshold": step.threshold - 1},
        "a higher threshold": {"threshold": step.threshold + 1},
        "other noise": {"standard_error": step.standard_error * 1.001},
    }
    first = dataclasses.replace(step, **changes[name])
    other = dataclasses.replace(tree, steps=(first, *tree.steps[1:]))
    assert_contradiction(
        tmp_path / "r",
        table=other,
        certificate=certify_tree(tree),
        words="The steps of the table are not those of",
    )


def test_a_certificate_says_what_one_record_is(
    tmp_path: Path, tree: SequenceTable, certify_tree: Certify
) -> None:
    terms = certify_tree(tree).terms
    limits = {**terms.contribution.limits, "record": "year"}
    other = certificate_of(
        terms, contribution=dataclasses.replace(terms.contribution, limits=limits)
    )
    assert_contradiction(
        tmp_path / "r", table=tree, certificate=other, words="does not say what one record is"
    )


@pytest.mark.parametrize("most", [1, True, 5e6])
def test_a_tree_goes_as_far_as_it_says_that_it_may(
    tmp_path: Path, tree: SequenceTable, certify_tree: Certify, most: object
) -> None:
    terms = certify_tree(tree).terms
    parameters = {**terms.mechanism.parameters, "most_nodes": most}
    record = MechanismRecord(name=terms.mechanism.name, parameters=parameters)
    certificate = certificate_of(terms, mechanism=record)
    words = "The steps of the table" if most == 1 and most is not True else "this version runs"
    with pytest.raises(ReleaseError, match=words):
        write_release(tmp_path / "r", table=tree, certificate=certificate)


def test_a_tree_does_not_stop_without_a_reason(
    tmp_path: Path, build: Build, certify_tree: Certify
) -> None:
    """It has nodes left to grow from, and steps that were charged for."""
    low = build(height=3)
    certificate = certify_tree(low, height=4)
    assert certificate.terms.not_taken
    with pytest.raises(ReleaseError, match="The steps of the table"):
        write_release(tmp_path / "r", table=low, certificate=certificate)

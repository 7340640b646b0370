"""The certificate of an OD table is its own: terms, rows and sums follow from each other."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import get_args

import pytest

from hushway.errors import PrivacyError, ReleaseError
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.laplace import DenseLaplace
from hushway.families.od.mechanism.terms import TripKind, od_terms, stated_terms
from hushway.families.od.public.features import Feature
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.privacy.bound import Unit
from hushway.privacy.certificate import Certificate, Contribution, MechanismRecord, Terms
from hushway.privacy.loss import PureLoss
from support.certificates import certificate_of
from support.family_suite import Case, CertifiedSuite
from support.forging import assert_contradiction, failed, forged_release, sentence
from support.od_scenes import small_certificate

NOT_RUN = "not ones that this version runs"


class TestCertified(CertifiedSuite):
    case = Case(family="od", table="table", certify=small_certificate, release="release")

    @pytest.fixture(params=["sparse_table", "summed"])
    def own_table(self, request: pytest.FixtureRequest) -> ODTable:
        return request.getfixturevalue(request.param)


def test_a_certificate_that_does_not_add_up_says_so(
    tmp_path: Path, table: ODTable, certificate: Certificate
) -> None:
    (event,) = certificate.terms.events
    other = certificate_of(certificate.terms, events=(event, event))
    with pytest.raises(ReleaseError, match="contradicts itself") as caught:
        write_release(tmp_path / "r", table=table, certificate=other)
    assert "adds up" in caught.value.advice


def test_rows_are_those_of_the_mechanism_that_the_certificate_states(
    tmp_path: Path, table: ODTable, sparse_table: ODTable, summed: ODTable
) -> None:
    plain = replace(summed, margins=())
    lower = replace(sparse_table, threshold=sparse_table.threshold - 1)
    for name, rows, stated in (
        ("dense and not sparse", table, sparse_table),
        ("sparse and not dense", sparse_table, table),
        ("zeros left out", plain, table),
        ("zeros not left out", table, plain),
        ("another threshold", lower, sparse_table),
    ):
        assert_contradiction(
            tmp_path / name,
            table=rows,
            certificate=small_certificate(stated),
            words="The rows of the table are not those of",
        )


@pytest.mark.parametrize("row", [0, 40, 79])
def test_every_row_carries_the_noise_that_was_paid_for(
    tmp_path: Path, table: ODTable, certificate: Certificate, row: int
) -> None:
    errors = table.standard_errors.copy()
    errors[row] *= 1.001
    other = replace(table, standard_errors=errors)
    assert_contradiction(
        tmp_path / "r",
        table=other,
        certificate=certificate,
        words="The standard errors of the table are not those of",
    )


def naming(terms: Terms, features: object) -> MechanismRecord:
    """Returns the mechanism of some terms as if it had measured other features."""
    mechanism = terms.mechanism
    return replace(mechanism, parameters={**mechanism.parameters, "published_totals": features})


def test_sums_need_a_certificate_that_names_their_features(
    tmp_path: Path, summed: ODTable, table: ODTable
) -> None:
    terms = small_certificate(summed).terms
    named = terms.mechanism.parameters["published_totals"]
    for name, features in (
        ("fewer", named[1:]),
        ("in another order", named[::-1]),
        ("of other labels", [{**named[0], "digest": "sha256:0"}, *named[1:]]),
        ("of other sizes", [{**named[0], "elements": 2}, *named[1:]]),
    ):
        other = certificate_of(terms, mechanism=naming(terms, features))
        assert_contradiction(tmp_path / name, table=summed, certificate=other, words=NOT_RUN)
    for features in ([], [named], "total"):
        other = certificate_of(terms, mechanism=naming(terms, features))
        with pytest.raises(ReleaseError, match=NOT_RUN):
            write_release(tmp_path / "r", table=summed, certificate=other)
    with pytest.raises(ReleaseError, match=NOT_RUN):
        write_release(tmp_path / "r", table=table, certificate=small_certificate(summed))
    assert not (tmp_path / "r").exists()


def test_sums_carry_the_noise_that_was_paid_for(tmp_path: Path, summed: ODTable) -> None:
    for place in range(len(summed.margins)):
        margins = list(summed.margins)
        error = 1.001 * margins[place].standard_error
        margins[place] = replace(margins[place], standard_error=error)
        assert_contradiction(
            tmp_path / str(place),
            table=replace(summed, margins=tuple(margins)),
            certificate=small_certificate(summed),
            words="The standard errors of the sums of the table are not those of",
        )


def test_no_mechanism_publishes_zeros_beside_sums(
    tmp_path: Path, summed: ODTable, table: ODTable
) -> None:
    dense = replace(table, margins=summed.margins)
    assert_contradiction(
        tmp_path / "r",
        table=dense,
        certificate=small_certificate(summed),
        words="The rows of the table are not those of",
    )


def renamed(feature: Feature) -> Feature:
    return replace(feature, title="hour")


def relabelled(feature: Feature) -> Feature:
    labels = feature.periods
    assert labels is not None
    return replace(feature, periods=replace(labels, names=("x", *labels.names[1:])))


@pytest.mark.parametrize("change", [renamed, relabelled])
def test_sums_over_other_features_than_those_of_the_certificate_are_found(
    tmp_path: Path, summed: ODTable, change: Callable[[Feature], Feature]
) -> None:
    total, period, *others = summed.margins
    margins = (total, replace(period, feature=change(period.feature)), *others)
    other = replace(summed, margins=margins)
    assert verify(
        write_release(tmp_path / "own", table=other, certificate=small_certificate(other))
    ).passed
    assert_contradiction(
        tmp_path / "r", table=other, certificate=small_certificate(summed), words=NOT_RUN
    )


def test_features_that_the_certificate_does_not_name_are_found(
    tmp_path: Path, summed: ODTable
) -> None:
    fewer = replace(summed, margins=summed.margins[:-1])
    assert_contradiction(
        tmp_path / "r", table=summed, certificate=small_certificate(fewer), words=NOT_RUN
    )


def test_a_certificate_without_features_explains_no_files_of_sums(
    tmp_path: Path, summed: ODTable
) -> None:
    none = replace(summed, margins=())
    with pytest.raises(ReleaseError, match=NOT_RUN):
        write_release(tmp_path / "r", table=summed, certificate=small_certificate(none))
    folder = forged_release(tmp_path / "r", table=summed, certificate=small_certificate(none))
    verification = verify(folder)
    assert failed(verification) == {"package"}
    assert "holds other files than" in sentence(verification, "package")


def test_a_feature_that_was_never_paid_for_is_found(tmp_path: Path, summed: ODTable) -> None:
    terms = small_certificate(summed).terms
    paid = tuple(event for event in terms.events if event.cells != 1)
    assert len(paid) == len(terms.events) - 1
    other = certificate_of(terms, events=paid)
    assert_contradiction(
        tmp_path / "r", table=summed, certificate=other, words="its events are not what"
    )


def test_no_row_is_below_the_threshold_of_a_sparse_table(
    tmp_path: Path, sparse_table: ODTable
) -> None:
    counts = sparse_table.counts.copy()
    counts[0] = 3
    low = replace(sparse_table, counts=counts)
    assert_contradiction(
        tmp_path / "r",
        table=low,
        certificate=small_certificate(sparse_table),
        words="The rows of the table",
    )


@pytest.mark.parametrize("unit", [Unit.TRIP, Unit.RECORD])
def test_units_that_nobody_bounds_are_not_promised(table: ODTable, unit: Unit) -> None:
    with pytest.raises(PrivacyError, match="cannot be protected"):
        od_terms(DenseLaplace(spend=PureLoss(Fraction(1))), table.universe, unit=unit, max_trips=3)


@pytest.mark.parametrize("trip", get_args(TripKind))
def test_where_the_unit_is_a_trip_a_certificate_says_what_one_is(
    table: ODTable, trip: TripKind
) -> None:
    cells = table.universe
    mechanism = DenseLaplace(spend=PureLoss(Fraction(1)))
    terms = od_terms(mechanism, cells, unit=Unit.TRIP, max_trips=1, trip=trip)
    assert terms.contribution.words.startswith("One trip is ")
    assert stated_terms(certificate_of(terms), cells, ()) == terms
    others = {
        stated_terms(
            certificate_of(terms, contribution=_another_trip(terms, other)), cells, ()
        ).contribution.words
        for other in get_args(TripKind)
    }
    assert len(others) == len(get_args(TripKind))


def test_a_certificate_that_does_not_say_what_one_trip_is_is_refused(table: ODTable) -> None:
    mechanism = DenseLaplace(spend=PureLoss(Fraction(1)))
    terms = od_terms(mechanism, table.universe, unit=Unit.TRIP, max_trips=1)
    other = certificate_of(terms, contribution=_another_trip(terms, "journey"))
    with pytest.raises(ReleaseError, match="what one trip is"):
        stated_terms(other, table.universe, ())


def _another_trip(terms: Terms, trip: str) -> Contribution:
    limits = {**terms.contribution.limits, "trip": trip}
    return Contribution(words=terms.contribution.words, limits=limits)

"""What `price` calls enough is published, or refused before anything is charged."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.errors import HushwayError
from hushway.families.density.files.check import DensityContents
from hushway.families.links.files.check import LinksContents
from hushway.families.load import plan_from, prepare
from hushway.families.od.files.published import ODContents
from hushway.families.sequences.files.check import SequencesContents
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, cost_on, loss_of
from hushway.release.job import Job
from hushway.steward.price import price
from hushway.steward.publish import publish
from support.little_plans import little_plan, write_little_files
from support.long import often

_EPSILON = st.sampled_from(["1/3", "1", "2.5"])
_DELTA = st.sampled_from([None, "1e-6"])
_NOISE = st.sampled_from(["laplace", "gaussian"])
_UNITS = {
    "od": ["person", "device", "trip"],
    "sequences": ["person", "device", "record"],
    "density": ["person", "device"],
    "links": ["person", "device"],
}
_OPTIONS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "od": st.one_of(
        st.fixed_dictionaries(
            {"name": st.just("laplace"), "form": st.sampled_from(["dense", "sparse"])}
        ),
        st.fixed_dictionaries(
            {
                "name": st.sampled_from(["cbdp", "hierarchical"]),
                "published_totals": st.sampled_from([["total"], ["total", "period", "zones"]]),
                "noise": _NOISE,
            }
        ),
    ),
    "sequences": st.fixed_dictionaries({"noise": _NOISE}),
    "density": st.one_of(
        st.just({"name": "laplace"}),
        st.fixed_dictionaries(
            {"noise": _NOISE, "clustering": st.booleans(), "scaling": st.booleans()}
        ),
    ),
    "links": st.fixed_dictionaries(
        {
            "noise": st.sampled_from(["auto", "laplace", "gaussian"]),
            "classes": st.sampled_from(["0", "1/10"]),
            "speeds": st.sampled_from(["0", "1/4"]),
        }
    ),
}


@st.composite
def plans(draw: st.DrawFn, family: str) -> dict[str, Any]:
    """Draws a plan; some of them contradict themselves and are refused as plans."""
    facts = little_plan(family)
    unit = draw(st.sampled_from(_UNITS[family]))
    facts["privacy"] |= {"unit": unit, "epsilon": draw(_EPSILON), "delta": draw(_DELTA)}
    if unit in {"trip", "record"}:
        facts["privacy"] |= {name: 1 for name in facts["privacy"] if name.startswith("max_")}
    facts["mechanism"] = draw(_OPTIONS[family])
    if family == "sequences":
        facts["records"]["span"] = draw(st.sampled_from(["day", "window"]))
        facts["privacy"]["max_records"] = draw(st.sampled_from([1, 3]))
    return facts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Files of all families; pictures are left out, which take longest and decide nothing."""
    folder = tmp_path_factory.mktemp("little")
    write_little_files(folder)
    with pytest.MonkeyPatch.context() as patch:
        for contents in (ODContents, SequencesContents, DensityContents, LinksContents):
            patch.setattr(contents, "picture", lambda _self, _certificate: b"no picture")
        yield folder


_NUMBERS = count()


def job_of(facts: dict[str, Any], folder: Path) -> Job | None:
    """Returns the job of a plan with a ledger of its own; None if the plan is refused."""
    number = next(_NUMBERS)
    facts["release"]["folder"] = f"release-{number}"
    facts["ledger"]["url"] = f"ledger-{number}.db"
    try:
        return prepare(plan_from(facts, folder=folder))
    except HushwayError:
        return None


@pytest.mark.parametrize("family", often(list(_UNITS)))
@settings(max_examples=15, deadline=None, derandomize=True)
@given(data=st.data())
def test_enough_is_enough_and_a_refusal_costs_nothing(
    family: str, folder: Path, data: st.DataObject
) -> None:
    job = job_of(data.draw(plans(family)), folder)
    measure = data.draw(st.sampled_from(list(Measure)))
    # Just enough, a little too little, and plenty.
    share = data.draw(st.sampled_from([Fraction(1), Fraction(999, 1000), Fraction(5)]))
    if job is None:
        return
    pure = [loss for loss in job.mechanism.losses if loss.measure is Measure.PURE]
    cost = cost_on(pure if measure is Measure.PURE else job.mechanism.losses, measure)
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(measure, (cost or 1) * share))
    affordable = price(job).affordable
    assert affordable == (share >= 1 and len(pure) in {0, len(job.mechanism.losses)} and cost > 0)
    try:
        certificate = publish(job).certificate
    except HushwayError:
        assert not affordable
        with Ledger.connect(job.plan.ledger_url()) as ledger:
            assert ledger.account(job.account).spent == 0
    else:
        assert affordable
        assert certificate.account.spent == cost
        assert certificate.claim.amount == sum(loss.amount for loss in job.mechanism.losses)


def test_the_claim_is_what_was_reserved_also_when_a_tree_stops_early(folder: Path) -> None:
    """Thirty-six taps and a budget that keeps nothing: the first step is the last."""
    facts = little_plan("sequences")
    facts["privacy"]["epsilon"] = "1/100"
    job = job_of(facts, folder)
    assert job is not None
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.PURE, Fraction(1)))
    certificate = publish(job).certificate
    assert len(certificate.terms.events) < len(job.terms.events)
    assert len(certificate.terms.reserved) == len(job.terms.events)
    assert certificate.claim.amount == certificate.account.spent == Fraction(1, 100)

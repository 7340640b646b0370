"""Whatever the noise: what a mechanism fits can be written, for the money is spent by then."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hushway.engine.key import BoundingKey
from hushway.families.load import plan_from, prepare
from hushway.families.registry import contents_of
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event
from hushway.privacy.randomness import SeededSource
from hushway.release.job import CountingContext, Job, settings_of
from hushway.steward.certify import as_measured
from support.certificates import certificate_of
from support.little_plans import little_plan, write_little_files
from support.long import often

_SEEDS = 3
_GAUSSIAN = {"noise": "gaussian"}
_WAYS: list[tuple[str, dict[str, Any]]] = [
    ("od", {}),
    ("od", {"name": "learned", "published_totals": ["origins"], **_GAUSSIAN}),
    ("od", {"name": "laplace", "form": "dense"}),
    ("od", {"name": "laplace", "form": "sparse"}),
    ("od", {"name": "hierarchical", "published_totals": ["total", "zones"]}),
    *(("od", {"name": "cbdp", "form": form, **_GAUSSIAN}) for form in ("dense", "lazy")),
    ("od", {"name": "cbdp", "rounding": "plain", "structure": "hierarchical"}),
    ("sequences", {}),
    ("sequences", _GAUSSIAN),
    ("sequences", {"name": "learned"}),
    ("sequences", {"name": "learned", **_GAUSSIAN}),
    ("sequences", {"thresholds": "paper", "groups": "paper"}),
    ("density", {"name": "laplace"}),
    *(
        ("density", {"clustering": clustering, "scaling": scaling, "denoise": denoise})
        for clustering in (True, False)
        for scaling in (True, False)
        for denoise in ("patterns", "sure")
    ),
    ("density", {"denoise": "cuts", "night": True}),
    ("links", {}),
    ("links", {"speeds": "1/4", "publish_above_se": 0, "conserve": False}),
    ("links", {"noise": "laplace", "classes": "0", "shrink_to_class": False}),
]


class StudyBudget:
    """A budget that agrees to everything."""

    def charge(self, event: Event) -> None:
        """Takes note of nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("little")
    write_little_files(folder)
    return folder


def job_of(folder: Path, family: str, mechanism: dict[str, Any], epsilon: str) -> Job:
    facts = little_plan(family)
    facts["privacy"] |= {"epsilon": epsilon, "delta": "1e-6"}
    facts["mechanism"] = mechanism
    return prepare(plan_from(facts, folder=folder))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("epsilon", often(["1/20", "1", "20"]))
@pytest.mark.parametrize(
    ("family", "mechanism"), _WAYS, ids=[f"{family}-{way}" for family, way in _WAYS]
)
def test_every_fit_can_be_written(
    folder: Path, family: str, mechanism: dict[str, Any], epsilon: str
) -> None:
    job = job_of(folder, family, mechanism, epsilon)
    bits = SeededSource(int(Fraction(epsilon) * 20))
    context = CountingContext(
        key=BoundingKey.draw(bits),
        bits=bits,
        settings=settings_of(job.plan),
        progress=lambda _share: None,
    )
    counter = job.rows.counter(context)
    for _ in range(_SEEDS):
        curator = Curator(counter=counter, budget=StudyBudget(), source=bits)
        measured = job.mechanism.measure(curator, job.geography)
        table = job.mechanism.fit(measured, job.geography)
        terms = as_measured(job, measured, curator.events)
        contents_of(table).check(certificate_of(terms))

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.auditing.bounds import runs_needed
from hushway.auditing.harness import Examination, Finding, MutantFinding, Trial, World
from hushway.auditing.noise import SUITE as NOISE
from hushway.auditing.pace import Pace
from hushway.auditing.product import Product
from hushway.auditing.suite import Mutant, Suite
from hushway.errors import AuditError
from hushway.families.od.audit.suite import SUITE as OD
from hushway.families.registry import FAMILIES, suite_of

RUNS = 70_000
REAL = Product()


def constant(value: int) -> World:
    def sample(runs: int) -> IntArray:
        return np.full(runs, value, dtype=np.int64)

    return World(words=str(value), sample=sample)


def silent(_product: Product, epsilon: Fraction) -> Examination:
    return Trial(name="silence", statistic="it", epsilon=epsilon, worlds=(constant(0), constant(0)))


def too_noisy(_product: Product, epsilon: Fraction) -> Examination:
    return Trial(
        name="din", statistic="it", epsilon=epsilon, worlds=(constant(0), constant(0)), tight=True
    )


def outspoken(_product: Product, epsilon: Fraction) -> Examination:
    return Trial(name="shout", statistic="it", epsilon=epsilon, worlds=(constant(0), constant(1)))


TWO = Suite(real=REAL, audits=(silent, outspoken))


def hunted(*audits: object) -> MutantFinding:
    mutant = Mutant(name="mistake", product=REAL, audits=audits)
    (finding,) = replace(TWO, mutants=(mutant,)).hunt(runs=RUNS, epsilons=(1,))
    return finding


def test_a_suite_reports_every_audit_at_every_epsilon() -> None:
    findings = TWO.audit(runs=RUNS, epsilons=(1, 2))
    assert [(f.name, f.epsilon, f.passed) for f in findings] == [
        ("silence", 1, True),
        ("shout", 1, False),
        ("silence", 2, True),
        ("shout", 2, False),
    ]


def test_progress_names_each_audit_and_ends_at_one() -> None:
    told: list[tuple[str, float]] = []
    TWO.audit(runs=RUNS, epsilons=(1,), progress=lambda name, done: told.append((name, done)))
    assert told == [("silence", 0.0), ("shout", 0.5), ("done", 1.0)]


@pytest.mark.parametrize("suite", [TWO.audit, TWO.hunt, NOISE.audit])
def test_too_few_runs_are_refused_with_the_number_that_is_needed(suite: object) -> None:
    needed = runs_needed(Fraction(1))
    with pytest.raises(AuditError, match="too few") as refusal:
        suite(runs=needed - 1, epsilons=(1, 4))
    assert f"{needed:,}" in refusal.value.advice


def test_a_quick_audit_takes_few_runs_and_asks_for_no_share_of_the_claim() -> None:
    suite = replace(TWO, audits=(silent, too_noisy, outspoken))
    findings = suite.audit(runs=1_000, quick=True)
    # Where 4 is claimed, so few runs cannot prove more, and say so.
    assert [finding.passed for finding in findings] == [True, True, False, True, True, True]
    assert [finding.epsilon_detected is None for finding in findings] == [False] * 3 + [True] * 3
    assert all(finding.epsilon_provable > 3 for finding in findings)


def test_a_quick_audit_refuses_what_no_audit_can_use() -> None:
    for asked in (TWO.audit, TWO.paces):
        with pytest.raises(AuditError, match="too few for a quick audit") as refusal:
            asked(runs=999, quick=True)
        assert refusal.value.advice == "Give at least 1,000 runs."


def test_whoever_gives_too_few_runs_is_told_of_a_quick_audit() -> None:
    with pytest.raises(AuditError) as refusal:
        TWO.audit(runs=20_000)
    assert "68,282 runs" in refusal.value.advice
    assert "--quick" in refusal.value.advice


def test_progress_goes_by_the_time_that_audits_take() -> None:
    told: list[tuple[str, float]] = []
    slow, quick = (Pace(first=0, each=each, effort=Fraction(1)) for each in (0.003, 0.001))
    paces = {silent: slow, outspoken: quick}
    TWO.audit(
        runs=RUNS, epsilons=(1,), paces=paces, progress=lambda name, done: told.append((name, done))
    )
    assert told == [
        ("silence (about 5 minutes left)", 0.0),
        ("shout (about 70 seconds left)", pytest.approx(0.75)),
        ("done", 1.0),
    ]


def test_the_time_of_planted_mistakes_is_that_of_their_audits() -> None:
    paces = {silent: Pace(first=0, each=0.001, effort=Fraction(1))}
    one = replace(
        TWO,
        audits=(silent,),
        mutants=(Mutant(name="it", product=REAL, audits=(silent, outspoken)),),
    )
    assert one.seconds(paces, runs=RUNS) == pytest.approx(2 * 70)
    assert one.seconds(paces, runs=RUNS, mutants=True) == pytest.approx(2 * 70 * 3)


def test_every_audit_is_timed_beforehand() -> None:
    assert set(TWO.paces(runs=RUNS)) == {silent, outspoken}


@pytest.mark.parametrize("epsilons", [(), (0,), (-1,), (1, 11)])
def test_claims_that_no_audit_can_reach_are_refused(epsilons: tuple[int, ...]) -> None:
    with pytest.raises(AuditError, match="up to 10"):
        TWO.audit(runs=10**9, epsilons=epsilons)


def test_a_mutant_is_caught_by_the_audits_that_prove_a_loss() -> None:
    finding = hunted(silent, outspoken)
    assert finding.caught
    assert finding.by == "shout"
    assert finding.epsilon_lower > 1


def test_a_mutant_is_not_caught_by_too_much_noise() -> None:
    finding = hunted(too_noisy)
    assert not finding.caught
    assert finding.by == ""
    assert finding.epsilon_lower == 0


def test_families_are_found_by_name() -> None:
    assert sorted(FAMILIES) == ["density", "links", "od", "sequences"]
    assert suite_of("od") is OD
    assert suite_of("noise") is NOISE
    assert suite_of("noise").hunt(runs=RUNS, epsilons=(1,)) == []


PLANTED = {
    "od": {
        "sensitivity 1 instead of m",
        "shared noise",
        "missing budget split",
        "universe taken from the data",
        "threshold before noise",
        "no contribution limit",
        "people told apart by the low bits of their numbers",
        "ends of rides learnt from others",
        "a cap of trips in one cell that is not enforced",
        "a threshold for the cells that are empty",
        "each file bounded by itself",
        "sensitivity 1 instead of m on published totals",
        "the whole budget for every published total",
        "the same noise for every published total",
        "elements taken from the data",
        "pruning by exact counts",
        "lazy cells taken from the data",
        "lazy cells drawn anew at every look",
        "lazy cells drawn as if nobody had looked",
        "no noise on the total",
        "counts made whole to the exact total",
        "learning from exact counts",
        "errors that are the true ones",
        "limits chosen by exact counts",
        "a step that is charged once and measured twice",
        "learning from the rows of other steps",
        "a revision that reads rows",
    },
    "sequences": {
        "sensitivity 1 instead of m",
        "no contribution limit",
        "candidates taken from the data",
        "threshold before noise",
        "the whole budget for every step",
        "a station in two groups",
        "a tree that stops where exact counts end",
        "a stop that counts in every later period",
        "records of one person that never share a candidate",
        "no noise where many people are",
        "the same noise at every step",
        "each file bounded by itself",
        "every new stop counts whole",
        "a record at each of its prefixes",
        "questions chosen by exact counts",
        "a person in every class up to their own",
        "left-out records without an end",
        "limits chosen by exact numbers of people",
    },
    "density": {
        "sensitivity 1 instead of the root of l",
        "the paper's subtraction in the cover",
        "several visits in one period",
        "no contribution limit",
        "a total that is not cut off",
        "a histogram of all visits",
        "a person whole at every site",
        "a person in every circle up to their own",
        "a class of activity for every period",
        "the same noise for every cluster",
        "the same noise for every period",
        "sites and cells taken from the data",
        "the exact number of people",
        "clusters made from exact totals",
        "cuts with the printed exponent",
        "the whole budget for every question",
        "half the noise in the histogram",
        "half the noise in the activity",
        "half the noise in the total",
        "half the noise in the clusters",
        "half the noise in the series",
        "four times the rho for the series",
        "cuts at twice the rate",
        "a contribution limit that holds day by day",
        "totals of cells bounded like series",
        "a scale from the exact number of visits",
        "each batch of rows bounded by itself",
        "each week bounded by itself",
        "limits chosen from exact people",
        "visits left out that are not cut off",
    },
    "links": {
        "no contribution limit on items",
        "every trip for itself",
        "sensitivity 1 instead of the root of m",
        "links taken from the data",
        "the same noise for every link",
        "threshold before noise",
        "speeds that are not cut off",
        "classes added up from all rows",
        "all that is left out counted",
        "what is left out weighted before noise",
        "the whole budget for every question",
        "speeds of items that do not count",
        "the busiest links of each person",
        "an expectation from exact sums",
        "each batch of rows bounded by itself",
        "ends moved no further than a radius",
        "trips cleaned by their true ends",
        "discs around the true ends",
        "of several last positions the first by place",
        "the paper: noise at the ends of trips, exact counts",
        "a person in two classes of items",
        "a chosen limit that is not kept to",
        "a limit chosen by exact numbers of people",
    },
}


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_the_mistakes_are_all_planted(family: str) -> None:
    names = [mutant.name for mutant in suite_of(family).mutants]
    assert len(names) == len(set(names))
    assert set(names) == PLANTED[family]


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_mistake_is_looked_for_by_audits_of_the_suite(family: str) -> None:
    suite = suite_of(family)
    names = [getattr(audit, "name", "") for audit in suite.audits]
    assert len(names) == len(set(names))
    assert all(set(mutant.audits) <= set(suite.audits) for mutant in suite.mutants)


def test_the_suite_of_a_family_reports_audits_and_mistakes() -> None:
    suite = suite_of("links")
    mutant = next(one for one in suite.mutants if one.name == "links taken from the data")
    (lone_road, _) = mutant.audits
    few = replace(suite, audits=(lone_road,), mutants=(replace(mutant, audits=(lone_road,)),))
    findings = few.audit(runs=RUNS, epsilons=(1, 4))
    assert [(finding.epsilon, finding.passed) for finding in findings] == [(1, True), (4, True)]
    (caught,) = few.hunt(runs=RUNS, epsilons=(1,))
    assert caught.caught
    assert caught.by == findings[0].name


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_the_pages_say_how_many_mistakes_are_planted(family: str) -> None:
    root = Path(__file__).parents[3]
    pages = root / "docs/researchers/audits.md", root / f"src/hushway/families/{family}/PRIVACY.md"
    for page in pages:
        lines = page.read_text(encoding="utf-8").splitlines()
        told = [line for line in lines if f"hushway audit {family}" in line and "plant" in line]
        assert len(told) == 1
        assert f" {len(suite_of(family).mutants)} " in told[0]


def test_an_unknown_family_is_answered_with_those_there_are() -> None:
    with pytest.raises(AuditError, match="'trams'") as refusal:
        suite_of("trams")
    assert "noise, od" in refusal.value.advice


def test_a_finding_is_complete_and_cannot_be_changed() -> None:
    finding = silent(REAL, Fraction(1)).examine(RUNS)
    assert isinstance(finding, Finding)
    with pytest.raises(AttributeError):
        finding.passed = False

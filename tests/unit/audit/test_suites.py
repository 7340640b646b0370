from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.audit.bounds import runs_needed
from hushway.audit.harness import Examination, Finding, MutantFinding, Trial, World
from hushway.audit.noise import SUITE as NOISE
from hushway.audit.pace import Pace
from hushway.audit.suite import Mutant, Suite
from hushway.errors import AuditError
from hushway.families.od.audit.product import REAL, Product
from hushway.families.od.audit.suite import SUITE as OD
from hushway.families.registry import FAMILIES, suite_of

RUNS = 70_000


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
    mutant = Mutant(name="mistake", product=REAL, audits=audits)  # type: ignore[arg-type]
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
        suite(runs=needed - 1, epsilons=(1, 4))  # type: ignore[operator]
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
        runs=RUNS,
        epsilons=(1,),
        paces=paces,
        progress=lambda name, done: told.append((name, done)),
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
        finding.passed = False  # type: ignore[misc]

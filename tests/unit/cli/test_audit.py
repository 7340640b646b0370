"""The command says beforehand how long audits take, and afterwards what they could have found."""

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from hushway.arrays import IntArray
from hushway.auditing.harness import Examination, Trial, World
from hushway.auditing.suite import Suite
from hushway.cli.verbs import app
from hushway.errors import AuditError
from hushway.families import registry
from hushway.families.registry import FAMILIES
from hushway.steward.audit import audit
from support.toy_family import ToyFamily


def still(runs: int) -> IntArray:
    return np.zeros(runs, dtype=np.int64)


def nothing(_product: Any, epsilon: Fraction) -> Examination:
    world = World(words="it", sample=still)
    return Trial(name="nothing", statistic="it", epsilon=epsilon, worlds=(world, world))


class SilentFamily(ToyFamily):
    suite = Suite(real=None, audits=(nothing,))


@pytest.fixture(autouse=True)
def silent_family(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAMILIES, "toy", SilentFamily())
    assert registry.suite_of("toy") is SilentFamily.suite


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["audit", "toy", *words])


def test_an_audit_says_how_long_it_takes_and_what_it_could_have_found() -> None:
    done = run()
    assert done.exit_code == 0
    assert "100,000 runs of each audit take about a second on this machine" in done.stderr
    assert "With --quick they take about a second" in done.stderr
    assert "can prove a loss of 7.79 at most" in done.stdout
    assert "quick" not in done.stdout


def test_a_quick_audit_says_that_it_is_one() -> None:
    done = run("--quick")
    assert done.exit_code == 0
    assert "10,000 runs of each audit" in done.stderr
    assert "can prove a loss of 5.48 at most" in done.stdout
    assert "where ε 1 is claimed, 1.43 or more" in done.stdout
    assert "This was a quick audit" in done.stdout


def test_programs_are_told_the_power_of_every_audit() -> None:
    facts = json.loads(run("--quick", "--runs", "2000", "--json").stdout)
    assert facts["quick"]
    assert facts["power"].startswith("2,000 runs can prove")
    assert {finding["runs"] for finding in facts["findings"]} == {2_000}
    assert facts["findings"][0]["epsilon_detected"] > 1
    assert facts["findings"][1]["epsilon_detected"] is None


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("--runs", "20000"), "at least 68,282 runs, or ask for a quick audit (--quick)"),
        (("--runs", "999"), "at least 68,282 runs"),
        (("--runs", "999", "--quick"), "at least 1,000 runs."),
        (("--quick", "--mutants"), "Leave out --quick or --mutants."),
    ],
)
def test_too_few_runs_are_one_error_with_the_number_that_helps(
    words: tuple[str, ...], advice: str
) -> None:
    done = run(*words)
    assert done.exit_code == 1
    assert isinstance(done.exception, AuditError)
    assert advice in done.exception.advice


def test_the_help_names_the_numbers_that_are_enforced() -> None:
    shown = " ".join(run("--help").stdout.replace("│", " ").split())
    assert "at least 68,282, 100,000 by default" in shown
    assert "with --quick at least 1,000, 10,000 by default" in shown


def test_the_function_does_what_the_command_does() -> None:
    told: list[str] = []
    report = audit("toy", quick=True, progress=lambda step, _share=None: told.append(step))
    assert {finding.runs for finding in report.findings} == {10_000}
    assert told[0] == "Timing a few runs of each audit"
    assert any("left" in step for step in told)
    assert {finding.runs for finding in audit("toy").findings} == {100_000}

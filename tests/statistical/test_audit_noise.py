"""The real noise passes its audits, at a million runs.

False alarms: see `hushway.auditing.bounds`; the twelve findings here are wrong together with
probability below 1e-7.
"""

import pytest

from hushway.auditing.harness import Finding
from hushway.auditing.noise import SUITE

RUNS = 1_000_000


@pytest.fixture(scope="module")
def findings() -> list[Finding]:
    return SUITE.audit(runs=RUNS)


def test_the_real_noise_loses_what_it_claims(findings: list[Finding]) -> None:
    assert [f"{f.event}. {f.reason}" for f in findings if not f.passed] == []


def test_laplace_noise_loses_nearly_all_that_it_claims(findings: list[Finding]) -> None:
    shown = [
        finding.epsilon_lower / finding.epsilon for finding in findings if "Laplace" in finding.name
    ]
    assert len(shown) == 4
    assert all(0.95 < share <= 1 for share in shown)


def test_gaussian_noise_is_audited_against_what_the_accountant_derives(
    findings: list[Finding],
) -> None:
    claims = [f for f in findings if "Gaussian" in f.name and f.epsilon_lower > 0]
    assert len(claims) == 4
    assert all(claim.delta == 0.01 for claim in claims)
    # Numerical composition derives less than the epsilon that the noise was calibrated to.
    assert all(0 < claim.epsilon < 4 for claim in claims)

"""The real OD code passes its audits.

False alarms: every Clopper-Pearson bound is wrong with probability 1e-9 at most and a finding uses
four of them; the law checks allow 8 standard errors; the number of runs leaves the same margin for
showing 80% of the claim. The 25 findings here are wrong together with probability below 1e-6.
"""

from fractions import Fraction

import pytest

from hushway.audit import od_dense
from hushway.audit.bounds import runs_needed
from hushway.audit.od import AUDITS
from hushway.audit.product import REAL

BATCHED = [audit for audit in AUDITS if audit is not od_dense.one_trip]


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(4)], ids=["1", "4"])
@pytest.mark.parametrize("audit", BATCHED, ids=lambda audit: audit.__name__)
def test_the_real_code_loses_what_it_claims(audit: object, epsilon: Fraction) -> None:
    finding = audit(REAL, epsilon).examine(runs_needed(epsilon))  # type: ignore[operator]
    assert finding.passed, f"{finding.event}. {finding.reason}"


def test_one_trip_is_hidden_in_releases_made_one_by_one() -> None:
    # One release a run is slow, so this audit has the epsilon that needs the fewest runs: its event
    # has probability 0.88, and 16,000 runs show 1.62 of 2 even at counts met once in a billion.
    finding = od_dense.one_trip(REAL, Fraction(2)).examine(16_000)
    assert finding.passed, f"{finding.event}. {finding.reason}"

"""Forgeries that add up: several things on a certificate, changed together.

Whoever knows this software can make up a release that no verifier finds fault with; only a
signature says who answers for it. Here are changes that a reader may think impossible, because each
field alone is checked. `docs/reference/verify.md` lists them.
"""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from hushway.privacy.accounting import best_epsilon
from hushway.privacy.certificate import Certificate, EpsilonDelta
from support.table_forgeries import VERIFY_PAGE

_HALF = Fraction(1, 2)


def _names(certificate: Certificate) -> Certificate:
    account = replace(certificate.account, dataset="another", period="2031")
    return replace(
        certificate,
        title="Another",
        release_id="another",
        publisher="Another",
        created_at="2031-01-01T00:00:00+00:00",
        account=account,
    )


def _whole_account(certificate: Certificate) -> Certificate:
    account = certificate.account
    scarce = replace(account, spent=account.spent * 10, budget_limit=account.budget_limit * 10)
    return replace(certificate, account=scarce)


def _large_delta(certificate: Certificate) -> Certificate:
    """Claims the small epsilon that the very same events cost at a delta of one half."""
    found = best_epsilon(certificate.terms.reserved, _HALF)
    epsilon = f"{max(1, math.ceil(found.epsilon * 10**6)) / 10**6:.6f}"
    return replace(
        certificate,
        epsilon_delta=EpsilonDelta(epsilon=epsilon, delta="1/2", method=found.method),
    )


# What is changed together, as the page calls it; for every family.
COHERENT: dict[str, Callable[[Certificate], Certificate]] = {
    "names, data set and dates": _names,
    "spent and budget limit": _whole_account,
    "an epsilon at a delta of 1/2": _large_delta,
}


def documented_combinations() -> set[str]:
    """Returns the combinations that docs/reference/verify.md lists."""
    section = VERIFY_PAGE.read_text("utf-8").split("### Changed together\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \|", section, flags=re.MULTILINE)
    return set(rows) - {"what is changed together", "---"}

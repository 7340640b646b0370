from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import ZCDPLoss
from support.ledgers import METRO


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with Ledger.connect(path) as opened:
        opened.open_account(METRO, ZCDPLoss(Fraction(1)))
        yield opened

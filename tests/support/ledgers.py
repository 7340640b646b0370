"""An account and its month, for tests of ledgers."""

from datetime import date

from hushway.privacy.bound import Unit
from hushway.privacy.ledger import AccountKey
from hushway.release.job import window_of_days

METRO = AccountKey(dataset="metro", unit=Unit.PERSON, period="2026-03")
MARCH = window_of_days(date(2026, 3, 1), date(2026, 3, 31), "Europe/Paris")

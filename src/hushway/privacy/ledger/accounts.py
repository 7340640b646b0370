"""Accounts: how much may be learnt about one kind of unit in one data set over one period."""

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from hushway.privacy.ledger.wording import check_name
from hushway.privacy.loss import Loss
from hushway.privacy.unit import Unit


@dataclass(frozen=True, kw_only=True)
class AccountKey:
    """Who is protected, in which data, over which time.

    Privacy:
        Losses add up within one account only. Data sets or periods that overlap under two different
        keys are two purses for the same people; it is the steward who keeps them apart.

    Attributes:
        dataset: The steward's own name for the data.
        unit: Who is protected.
        period: The time that the cap covers, as free text such as 2026-03.
    """

    dataset: str
    unit: Unit
    period: str

    def __post_init__(self) -> None:
        check_name("data set", self.dataset)
        check_name("period", self.period)

    def __str__(self) -> str:
        return f"{self.dataset} / {self.unit} / {self.period}"


@dataclass(frozen=True, kw_only=True)
class Account:
    """One account as it stands.

    Attributes:
        key: Whose account it is.
        cap: Most that may ever be spent, in the currency of the account.
        delta: The delta that the cap was derived from, kept for display only.
        spent: The exact sum of everything reserved, published or not.
        opened_at: When the account was opened, in UTC.
    """

    key: AccountKey
    cap: Loss
    delta: Fraction | None
    spent: Fraction
    opened_at: datetime

    @property
    def remaining(self) -> Fraction:
        """What may still be spent."""
        return self.cap.amount - self.spent

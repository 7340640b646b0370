"""Accounts: how much may be learnt about one kind of unit in one data set over one period."""

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from hushway.privacy.ledger.names import normal_name
from hushway.privacy.loss import Loss
from hushway.privacy.unit import Unit


@dataclass(frozen=True, kw_only=True)
class AccountKey:
    """Who is protected, in which data, over which time.

    Privacy:
        Losses add up within one account only. The ledger lets no two accounts of one data set pay
        for the same days, whatever their units and periods are called; data sets under different
        names are kept apart by the steward alone.

    Attributes:
        dataset: The steward's own name for the data, kept in its normal form.
        unit: Who is protected.
        period: The steward's own name for the time that the cap covers, such as 2026-03, kept in
            its normal form.
    """

    dataset: str
    unit: Unit
    period: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "dataset", normal_name("data set", self.dataset))
        object.__setattr__(self, "period", normal_name("period", self.period))

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

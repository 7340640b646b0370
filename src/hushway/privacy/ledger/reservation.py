"""A reservation: the share of an account that one release was already charged for."""

import os
import threading
from collections.abc import Iterable
from fractions import Fraction
from typing import NoReturn

from hushway.errors import BudgetError, PrivacyError
from hushway.privacy.events import Event
from hushway.privacy.ledger.entries import AccountKey, readable
from hushway.privacy.loss import Loss, Measure, cost_on


class Reservation:
    """The budget of one release, filled once by the ledger; a `Budget` that a curator spends from.

    Privacy:
        The whole amount was spent in the ledger before this object existed. Charging only makes
        sure that the release stays within it; what is left over is never refunded. It belongs to
        the process that made it: a copy, in memory or in a forked process, would spend it again.
    """

    def __init__(
        self, *, release: str, key: AccountKey, measure: Measure, amount: Fraction, entry_hash: str
    ) -> None:
        self.release = release
        self.key = key
        self.measure = measure
        self.amount = amount
        self.entry_hash = entry_hash
        self._charged = Fraction(0)
        self._closed = False
        self._turn = threading.Lock()
        self._process = os.getpid()

    def __repr__(self) -> str:
        return f"Reservation({self.release!r}, {readable(self.measure, self.amount)})"

    @property
    def charged(self) -> Fraction:
        """What was charged so far, in the currency of the account."""
        return self._charged

    def charge(self, event: Event) -> None:
        """Takes the event's loss out of the reservation.

        Privacy:
            Either the whole loss is taken or nothing.
        """
        # Before the lock: a fork may have copied it while another thread held it.
        if os.getpid() != self._process:
            raise PrivacyError(
                f"Release {self.release} was reserved by another process, which may spend it too.",
                advice="Measure in the process that reserved, or reserve a release in each.",
            )
        cost = cost_of([event.loss], self.measure)
        with self._turn:
            if self._closed:
                raise BudgetError(
                    f"Release {self.release} is settled; nothing more can be measured for it.",
                    advice="Reserve a new release.",
                )
            if self._charged + cost > self.amount:
                raise BudgetError(
                    f"Release {self.release} would charge {readable(self.measure, cost)} "
                    f"with {readable(self.measure, self.amount - self._charged)} left "
                    f"of the {readable(self.measure, self.amount)} it reserved.",
                    advice="Nothing was taken. Reserve the losses of all measurements at once.",
                )
            self._charged += cost

    def __reduce__(self) -> NoReturn:
        """Refuses to be copied or pickled: each copy could be spent in full."""
        raise PrivacyError(
            f"The reservation of release {self.release} cannot be copied: it would be spent twice.",
            advice="Hand on the reservation itself, within its process.",
        )

    def close(self) -> None:
        """Ends the charging: the ledger calls this when the release is settled."""
        with self._turn:
            self._closed = True


def cost_of(losses: Iterable[Loss], measure: Measure) -> Fraction:
    """Returns what losses cost together in the currency of an account."""
    try:
        return cost_on(losses, measure)
    except PrivacyError as refusal:
        raise BudgetError(
            f"This account cannot spend on it; nothing was spent. {refusal}", advice=refusal.advice
        ) from refusal

"""The purse that every audited release pays from."""

from hushway.privacy.budget import Budget
from hushway.privacy.events import Event
from hushway.privacy.ledger.accounts import AccountKey
from hushway.privacy.ledger.reservation import Reservation
from hushway.privacy.loss import Loss
from hushway.privacy.unit import Unit


def filled_purse(unit: Unit, spend: Loss) -> Budget:
    """Returns the real purse of a release, as the ledger would have filled it.

    Privacy:
        A charge beyond `spend` is refused, as in a real release.
    """
    return Reservation(
        release="audit",
        key=AccountKey(dataset="town", unit=unit, period="audit"),
        measure=spend.measure,
        amount=spend.amount,
        entry_hash="",
    )


class BlindPurse:
    """A purse that agrees to everything: the real one would stop a missing split by itself."""

    def charge(self, event: Event) -> None:
        """Takes nothing."""

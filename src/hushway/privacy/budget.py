"""The purse that a curator pays from."""

from typing import Protocol

from hushway.privacy.events import Event


class Budget(Protocol):
    """Something that must agree before anything is counted."""

    def charge(self, event: Event) -> None:
        """Takes the event's loss out of the budget.

        Privacy:
            Called before any row is counted. It either takes the whole loss or raises and takes
            nothing.

        Raises:
            BudgetError: The loss is larger than what is left.
        """
        ...

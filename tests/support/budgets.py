"""Budgets of tests."""

from hushway.privacy.events import Event


class StudyBudget:
    """Spends for everything, and remembers it."""

    def __init__(self) -> None:
        self.charged: list[Event] = []

    def charge(self, event: Event) -> None:
        self.charged.append(event)

"""The purse of studies, which publish nothing."""

from hushway.privacy.events import Event


class StudyPurse:
    """Pays for everything."""

    def charge(self, event: Event) -> None:
        """Takes nothing."""

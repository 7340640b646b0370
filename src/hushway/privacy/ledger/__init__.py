"""The privacy-budget ledger: what may be spent, what was spent, and a chain that shows edits."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hushway.privacy.ledger.entries import Account, AccountKey, Entry, EntryKind, Unpublished
    from hushway.privacy.ledger.ledger import Ledger
    from hushway.privacy.ledger.people import Lost, People, PeopleLost
    from hushway.privacy.ledger.reservation import Reservation
    from hushway.privacy.ledger.restoring import LostRelease
    from hushway.privacy.ledger.window import Window
    from hushway.privacy.ledger.witness import Witness

__all__ = [
    "Account",
    "AccountKey",
    "Entry",
    "EntryKind",
    "Ledger",
    "Lost",
    "LostRelease",
    "People",
    "PeopleLost",
    "Reservation",
    "Unpublished",
    "Window",
    "Witness",
]


def __getattr__(name: str) -> Any:
    """Imports the ledger when it is first used: plans are read without the library for databases.

    The imports are written out, because machine code is kept by what its sources import.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import hushway.privacy.ledger.entries as entries  # noqa: PLR0402  'from' would ask this very function
    import hushway.privacy.ledger.ledger as ledger  # noqa: PLR0402  'from' would ask this very function
    import hushway.privacy.ledger.people as people  # noqa: PLR0402  'from' would ask this very function
    import hushway.privacy.ledger.reservation as reservation  # noqa: PLR0402  'from' would ask this very function
    import hushway.privacy.ledger.restoring as restoring  # noqa: PLR0402  'from' would ask this very function
    import hushway.privacy.ledger.window as window  # noqa: PLR0402  'from' would ask this very function
    import hushway.privacy.ledger.witness as witness  # noqa: PLR0402  'from' would ask this very function

    homes = (entries, ledger, people, reservation, restoring, window, witness)
    return next(getattr(home, name) for home in homes if hasattr(home, name))


def __dir__() -> list[str]:
    return __all__

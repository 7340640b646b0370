"""Every deliberate error of hushway, in one tree.

    HushwayError
    ├── PlanError            the plan cannot be understood
    │   └── OptionsError     options contradict each other
    ├── GeographyError       a public file is wrong: locations, zones, periods
    ├── DataError            the protected rows cannot be used as the plan says
    ├── BudgetError          an account is missing, or a spend would pass its limit
    ├── LedgerError          the ledger itself is damaged or out of reach
    ├── PrivacyError         a request that would break the guarantee
    ├── ReleaseError         a release cannot be written, or does not verify
    └── AuditError           an audit found more loss than was claimed

A message says what happened, what was expected and what to do next. It never carries a private
value, not even a count of rows: errors end up in logs and mails.
"""


class HushwayError(Exception):
    """The root of all deliberate errors.

    Attributes:
        advice: What the reader can do about it, as one sentence.
    """

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice


class Told(str):
    """A note on an error that may be shown, whatever the error: it holds no value of a row.

    Libraries add notes as well, and those may hold anything.
    """

    __slots__ = ()


class PlanError(HushwayError):
    """The plan cannot be understood."""


class OptionsError(PlanError):
    """Options contradict each other, or one is missing."""


class GeographyError(HushwayError):
    """A public file is wrong: locations, zones or periods."""


class DataError(HushwayError):
    """The protected rows cannot be used as the plan says."""


class BudgetError(HushwayError):
    """An account is missing, or a spend would pass its limit."""


class LedgerError(HushwayError):
    """The ledger itself is damaged or out of reach."""


class PrivacyError(HushwayError):
    """A request that would break the guarantee."""


class ReleaseError(HushwayError):
    """A release cannot be written, or does not verify."""


class AuditError(HushwayError):
    """An audit found more loss than was claimed."""


def damaged(message: str) -> ReleaseError:
    """Returns the error of a release that is not as it was written."""
    return ReleaseError(message, advice="Ask the publisher for an intact copy of the release.")

"""Whether parameters were tuned on the protected rows."""

from enum import StrEnum


class Tuning(StrEnum):
    """Whether the protected rows were looked at when the parameters were chosen.

    Privacy:
        No software can know. A choice made by looking at the rows is a measurement without noise,
        which no claim covers; so unless somebody answers for it, the certificate says just that.
    """

    NOT_STATED = "not stated"
    WITHOUT_THESE_ROWS = "without these rows"
    WITH_THESE_ROWS = "with these rows"

    @property
    def sentence(self) -> str:
        """What the certificate says."""
        return _SENTENCES[self]


_SENTENCES = {
    Tuning.NOT_STATED: (
        "Nobody has stated how the parameters were chosen. If they were chosen by looking at the "
        "protected rows, what the choice tells is not covered by the claim."
    ),
    Tuning.WITHOUT_THESE_ROWS: (
        "The approver states that the parameters were chosen without looking at the protected rows."
    ),
    Tuning.WITH_THESE_ROWS: (
        "The parameters were chosen after looking at the protected rows. What the choice tells is "
        "not covered by the claim."
    ),
}

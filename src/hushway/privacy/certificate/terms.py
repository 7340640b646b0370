"""The terms of a release: all on its certificate that follows from public facts and from code.

Nothing here is a matter of opinion. Whoever knows the mechanism with its parameters, the limits of
a unit's contribution and the public lists can compute the terms again; a verifier does, and refuses
a certificate that says anything else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from hushway.errors import PrivacyError, ReleaseError
from hushway.privacy.bound import Unit
from hushway.privacy.certificate.parts import (
    Contribution,
    Domain,
    MechanismRecord,
    check_text,
    check_texts,
    check_whole,
    refuse_internal,
)
from hushway.privacy.events import Event
from hushway.privacy.loss import Loss, total
from hushway.privacy.measured import Internal


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What is guaranteed, and of what.

    Attributes:
        release_type: What kind of release, such as "od".
        mechanism: What was run.
        unit: Who is protected.
        contribution: How much one unit may contribute.
        events: What was measured on the protected rows; before that, all that may be.
        not_taken: What was reserved and not measured, because noisy answers left nothing to ask.
        domain: The public cells.
        not_protected: What the release does not protect, one sentence each.
        post_processing: Steps after the noise, none of which saw the protected rows.
        error: Typical error of one published cell, as a sentence.
    """

    release_type: str
    mechanism: MechanismRecord
    unit: Unit
    contribution: Contribution
    events: tuple[Event, ...]
    not_taken: tuple[Event, ...] = ()
    domain: Domain
    not_protected: tuple[str, ...]
    post_processing: tuple[str, ...]
    error: str

    def __post_init__(self) -> None:
        for record in fields(self):
            if isinstance(getattr(self, record.name), Internal):
                refuse_internal(record.name)
        check_text("release_type", self.release_type)
        check_text("error", self.error)
        check_texts("not protected", self.not_protected)
        check_texts("post-processing", self.post_processing, may_be_empty=True)
        if not self.events:
            raise PrivacyError(
                "A certificate without events certifies nothing.", advice="Measure something first."
            )
        for event in self.reserved:
            _check_event(event)

    @property
    def reserved(self) -> tuple[Event, ...]:
        """All events that were charged for, measured or not."""
        return (*self.events, *self.not_taken)

    @property
    def claim(self) -> Loss:
        """The loss of the release: of all that was reserved.

        Privacy:
            Not of what was measured. Where noisy answers decide when to stop, what was measured
            depends on them, and a smaller claim would have to hold for every way of stopping. What
            was reserved was fixed before the first answer.
        """
        return total(event.loss for event in self.reserved)

    def measured(self, cells: Sequence[int]) -> "Terms":
        """Returns the terms of a release whose first events were measured, in so many cells each.

        Privacy:
            Only numbers of cells may depend on noisy answers, and no loss depends on them.
        """
        if not 0 < len(cells) <= len(self.reserved):
            raise PrivacyError(
                "More was measured than was announced, or nothing at all.",
                advice="Report this as a bug.",
            )
        taken = zip(self.reserved, cells, strict=False)
        return replace(
            self,
            events=tuple(replace(event, cells=size) for event, size in taken),
            not_taken=self.reserved[len(cells) :],
        )

    def check_same(self, expected: "Terms", *, software: str) -> None:
        """Makes sure that a certificate states the terms that follow from its own facts."""
        for record in fields(self):
            if getattr(self, record.name) != getattr(expected, record.name):
                raise ReleaseError(
                    f"The certificate contradicts itself: its {_WORDS[record.name]} not what "
                    f"{software} states for this mechanism, these limits and these public lists.",
                    advice="Do not trust this release; ask its publisher for one that adds up.",
                )


_WORDS = {
    "release_type": "release type is",
    "mechanism": "mechanism is",
    "unit": "unit is",
    "contribution": "contribution limits are",
    "events": "events are",
    "not_taken": "events that were charged for and not measured are",
    "domain": "public cells and assumptions are",
    "not_protected": "list of what is not protected is",
    "post_processing": "steps after the noise are",
    "error": "statement of typical errors is",
}


def _check_event(event: Event) -> None:
    if isinstance(event, Internal):
        refuse_internal("events")
    check_text("query", event.query)
    bound = event.bound
    for number in (event.cells, bound.cells, bound.each, bound.total):
        check_whole("number in an event", number)
    try:
        _ = event.loss
    except ZeroDivisionError:
        raise PrivacyError("An event added no noise.", advice="Give it a positive scale.") from None

"""What a learnt release of sequences publishes: records, and the prefixes that are sure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.public.taxonomy import Taxonomy


@dataclass(frozen=True, kw_only=True, eq=False)
class QuestionSummary:
    """What is public about one question.

    Attributes:
        name: What was asked.
        cells: How many cells it had.
        worth: What one count adds to the answer; more than 1 where a record is shared out.
        standard_error: Standard deviation of the noise in one count.
    """

    name: str
    cells: int
    worth: int
    standard_error: float


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordTable:
    """Published records. Safe for anyone to see.

    Attributes:
        taxonomy: The public tree over the locations.
        height: The most stops of a record.
        start: Where each distinct sequence begins; one entry more than sequences.
        stops: The location index of every stop of all of them in a row.
        counts: How many records each sequence stands for, all above 0.
        parent: For each prefix the prefix before its last stop, which stands before it; -1 where
            it has one stop.
        place: The location index of its last stop.
        prefix_counts: How many of the published records begin with it.
        prefix_errors: The standard error of that, for the true number.
        questions: What was asked.
        diagnostics: How the fit went, as plain JSON values.
    """

    taxonomy: Taxonomy
    height: int
    start: IntArray
    stops: IntArray
    counts: IntArray
    parent: IntArray
    place: IntArray
    prefix_counts: IntArray
    prefix_errors: FloatArray
    questions: tuple[QuestionSummary, ...]
    diagnostics: Mapping[str, Any] = field(default_factory=dict)

    def sequences(self) -> tuple[IntArray, IntArray, IntArray]:
        """Returns the distinct published sequences as a ragged array, with their counts."""
        return self.start, self.stops, self.counts

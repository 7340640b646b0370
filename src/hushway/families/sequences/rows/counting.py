"""Bounded records, and whatever is counted in them: one place for all engines."""

from hushway.engine.key import BoundingKey
from hushway.errors import PrivacyError
from hushway.families.sequences.public.prefixes import PrefixCells
from hushway.families.sequences.public.questions import (
    JointCells,
    KnownPrefixCells,
    NewStopCells,
    QuestionCells,
    RecordCells,
)
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.rows.record_bounding import (
    PrefixSteps,
    Records,
    refuse_other_prefixes,
)
from hushway.families.sequences.rows.record_questions import RecordQuestions
from hushway.privacy.bound import Bound
from hushway.privacy.query import ExactCounts, Query


class BoundedRecords:
    """Counts in records of which every unit has a bounded number.

    Args:
        records: The bounded records, cut to the height.
        height: Stops of a record that count.
        key: Decides what is left out where a question counts a part of a record.
    """

    def __init__(self, records: Records, *, height: int, key: BoundingKey) -> None:
        self.records = records
        self._prefixes = PrefixSteps(records)
        self._questions = RecordQuestions(records, height=height, key=key)

    def count(self, cells: PrefixCells | QuestionCells) -> ExactCounts:
        """Returns the exact counts of a question."""
        if isinstance(cells, PrefixCells):
            return self._prefixes.count(cells)
        return self._questions.count(cells)


def asked_cells(query: Query, taxonomy: Taxonomy, periods: int) -> PrefixCells | QuestionCells:
    """Returns the cells that a query asks for.

    Raises:
        PrivacyError: The query asks for cells of other places or periods.
    """
    cells = query.cells
    if not isinstance(cells, RecordCells | NewStopCells | JointCells | KnownPrefixCells):
        return refuse_other_prefixes(query, taxonomy, periods)
    if cells.taxonomy is not taxonomy and cells.taxonomy.digest != taxonomy.digest:
        raise PrivacyError(
            "This engine counts other cells than the query asks for.",
            advice="Ask for the places that the engine was made with.",
        )
    return cells


def bound_of_cells(cells: PrefixCells | QuestionCells, records: Bound) -> Bound:
    """Returns how far one unit moves the counts of some cells, given how many records it has.

    Privacy:
        A record lies in at most one candidate of a step of a prefix tree. What it adds to other
        questions is said and enforced where they are defined and counted.
    """
    return records if isinstance(cells, PrefixCells) else cells.bound(records.total)

"""The questions of a learnt release, as they are asked and as a release states them."""

import math
from collections.abc import Iterator
from typing import Any

from hushway.families.sequences.fit.table import QuestionSummary
from hushway.families.sequences.public.questions import JointCells, NewStopCells, QuestionCells
from hushway.privacy.bound import Bound
from hushway.privacy.measured import Measured
from hushway.privacy.query import Query


def parts_of(query: Query) -> list[Query]:
    """Returns the questions that a query is made of: itself, or those that are asked together."""
    cells = query.cells
    return [query_of(part) for part in cells.parts] if isinstance(cells, JointCells) else [query]


def summaries_of(answer: Measured) -> Iterator[QuestionSummary]:
    """Yields what is public about a question, or about each of those that were asked together."""
    assert isinstance(answer.query, Query)  # noqa: S101  what `measure` asks
    for part in parts_of(answer.query):
        worth = worth_of(answer.query, part.cells)
        yield QuestionSummary(
            name=part.name,
            cells=part.cells.size,
            worth=worth,
            standard_error=math.sqrt(answer.variance) / worth,
        )


def worth_of(query: Any, part: Any) -> int:
    """Returns what one count adds to a question, alone or asked together with others."""
    if isinstance(part, NewStopCells):
        return part.worth
    cells = query.cells
    return cells.worths[cells.parts.index(part)] if isinstance(cells, JointCells) else 1


def bound_of_query(query: Query, records: Bound) -> Bound:
    """Returns how far a unit moves a question, given how many records it has."""
    cells: Any = query.cells
    found: Bound = cells.bound(records.total)
    return found


def query_of(cells: QuestionCells) -> Query:
    """Returns the question about some cells."""
    return Query(name=cells.name, cells=cells)


def closer_look(cells: NewStopCells) -> Query:
    """Returns the question about triples, or about pairs again if there are none."""
    return Query(name="new stops, a closer look", cells=cells)

"""What `init` asks for, and whether an answer can be taken."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from hushway.errors import PlanError
from hushway.tables.encodings import ENCODINGS, Encoding
from hushway.tables.header import Clock
from hushway.tables.time_format import formats_of, has_instants, problem_of

_NO_FORMAT = "it is neither a time as people write it nor a format such as %d/%m/%Y %H:%M."


def _anything(answer: str) -> str | None:
    del answer
    return None


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question to the steward.

    Attributes:
        text: The question.
        choices: All answers there are; empty if any may be given.
        problem: Says why an answer cannot be taken; None if it can.
        advice: What to answer instead.
        is_file: Whether the answer names a file.
    """

    text: str
    choices: tuple[str, ...] = ()
    problem: Callable[[str], str | None] = _anything
    advice: str = ""
    is_file: bool = False


# Returns the answer to a question; an empty one leaves it open.
Ask = Callable[[Question], str]


def problem_with(question: Question, answer: str) -> str | None:
    """Says why an answer cannot be taken; None if it can, or leaves the question open."""
    if not answer:
        return None
    if question.choices and answer not in question.choices:
        return f"Choose one of: {', '.join(question.choices)}"
    problem = question.problem(answer)
    return None if problem is None else f"This cannot be taken: {problem}"


def file_question(words: str) -> Question:
    """Asks for a public file."""
    return Question(text=f"The file of {words}", problem=_is_file, is_file=True)


def _is_file(answer: str) -> str | None:
    return None if Path(answer).exists() else f"there is no file {answer}."


def _is_zone(answer: str) -> str | None:
    with suppress(ValueError, OSError, KeyError):
        ZoneInfo(answer)
        return None
    return "it is no time zone."


def _is_day(answer: str) -> str | None:
    with suppress(ValueError):
        date.fromisoformat(answer)
        return None
    return "it is no day."


def _is_time(answer: str) -> str | None:
    with suppress(ValueError):
        if _is_format(answer) or formats_of(answer) is not None:
            return None
    return _NO_FORMAT


_DAY: Final = "Write the year first, such as 2026-03-02."
WINDOW: Final = {
    "zone": Question(
        text="The time zone, such as Europe/Lisbon",
        problem=_is_zone,
        advice="Use an IANA name such as America/Detroit or Europe/Paris.",
    ),
    "first_day": Question(
        text="The first day of the window, such as 2026-03-02", problem=_is_day, advice=_DAY
    ),
    "last_day": Question(text="Its last day", problem=_is_day, advice=_DAY),
}
# What stands in every paper of a release, and in the file of a privacy officer.
STATED: Final = {
    "release.publisher": Question(text="Who publishes the release"),
    "release.intended_use": Question(text="What it is for, such as planning of bus lines"),
    "release.approver": Question(text="Who answers for it"),
}
_TIME: Final = Question(
    text="A time as the file writes it, such as 16/11/2009 07:45 (empty: 2009-11-16T07:45)",
    problem=_is_time,
    advice='Give an example, or a format such as "%d/%m/%Y %H:%M", epoch_s or epoch_ms.',
)


_DAY_AND_TIME: Final = "A day, a space and a time as the file writes them: 16/11/2009 07:45"


def _is_format(text: str) -> bool:
    return problem_of(text) is None


def encoding_named(name: str | None) -> Encoding | None:
    """Returns an encoding by its name.

    Raises:
        PlanError: It is not known.
    """
    found = next((one for one in ENCODINGS if one == name), None)
    if name is not None and found is None:
        raise PlanError(
            "There is no such encoding of CSV files.",
            advice=f"Choose one of {', '.join(ENCODINGS)}; windows-1252 is for Latin-1 too.",
        )
    return found


def encoding_options(found: Encoding, ask: Ask | None) -> dict[str, str]:
    """Returns what a plan says about the encoding that a first line looks like."""
    chosen: str = found
    if found != ENCODINGS[0] and ask is not None:
        text = f"The encoding of the file; its first line looks like {found}"
        chosen = ask(Question(text=text, choices=ENCODINGS)) or found
    return {} if chosen == ENCODINGS[0] else {"data.encoding": chosen}


def time_options(
    written: str | None, clock: Clock | None, ask: Ask | None, *, is_apart: bool = False
) -> dict[str, str]:
    """Returns what a plan says about how times are written.

    Args:
        written: A format, or an example of a time, if the steward gave one.
        clock: The clock that the type of the column tells; None if it holds text or numbers.
        ask: Asks the steward.
        is_apart: Whether the day is in a column of its own.

    Raises:
        PlanError: No usual format fits the example, or several do and nobody can be asked.
    """
    if clock is not None:
        return {"data.clock": clock}
    if written is None and ask is not None:
        written = ask(replace(_TIME, text=_DAY_AND_TIME) if is_apart else _TIME)
    if not written:
        return {}
    time_format = written if _is_format(written) else _format_of(written, ask)
    instants = has_instants(time_format) or (time_format is None and written.endswith("Z"))
    return {
        **({} if time_format is None else {"data.time_format": time_format}),
        **({"data.clock": "utc"} if instants else {}),
    }


def _format_of(example: str, ask: Ask | None) -> str | None:
    problem = _is_time(example)
    if problem is not None:
        raise PlanError(f"The time that was given cannot be taken: {problem}", advice=_TIME.advice)
    formats = formats_of(example)
    if len(formats) > 1 and ask is not None:
        return ask(Question(text="Is it day/month or month/day?", choices=formats)) or None
    if len(formats) > 1:
        raise PlanError(
            "The example of a time may be read in several ways.",
            advice=f"Name one: {' or '.join(f'--time-format {one!r}' for one in formats)}.",
        )
    return formats[0] if formats else None

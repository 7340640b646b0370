"""A first plan by the questions of `init`: a page sends all answers so far, and gets the next one.

Nothing is kept between two requests, so that a page can go back and answer otherwise.
"""

from pathlib import Path
from typing import Any

from hushway.steward.init import init
from hushway.steward.init_questions import Question, problem_with
from hushway.workbench.data_files import data_file, data_files, free_name
from hushway.workbench.responses import RefusalError


class _OpenError(Exception):
    """A question without an answer yet."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.text)
        self.question = question


def ask_or_write(folder: Path, rows: str, answers: list[str]) -> dict[str, Any] | Path:
    """Returns the first question that has no answer, or writes the plan and returns its file.

    Args:
        folder: Where the rows are, and the plan goes.
        rows: The name of the file of rows.
        answers: The answers, in the order of the questions; an empty one leaves a question open.

    Raises:
        RefusalError: There is no such file, or the last answer cannot be taken.
        PlanError: The answers make no plan.
    """
    waiting = list(answers)
    output = free_name(folder, "plan", ".toml")
    # Plans of one folder each have a release of their own.
    own = {"release.folder": output.stem.replace("plan", "release")}

    def ask(question: Question) -> str:
        if not waiting:
            raise _OpenError(question)
        answer = waiting.pop(0)
        if question.is_file and answer:
            return str(data_file(folder, answer))
        problem = problem_with(question, answer)
        if problem is not None:
            raise RefusalError(422, problem, advice=question.advice)
        return answer

    try:
        init(data_file(folder, rows), options=own, output=output, ask=ask)
    except _OpenError as still:
        question = still.question
        choices = _names(folder, rows) if question.is_file else question.choices
        return {"text": question.text, "choices": choices, "advice": question.advice}
    return output


def _names(folder: Path, rows: str) -> tuple[str, ...]:
    return tuple(file["name"] for file in data_files(folder) if file["name"] != rows)

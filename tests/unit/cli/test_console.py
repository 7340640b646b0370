"""What the command prints, whatever it is given to print."""

import json
from collections.abc import Callable

import pytest

from hushway.cli import console
from hushway.cli.console import answer_json, failure, say, step, table
from hushway.escaping import visible

# Clears a line and paints another one, turns the text, hides a letter, ends a line.
HOSTILE = "x\x1b[2K\x9b1A\rVERIFIED\u202e\u200b\u2066\udcff\u2028\nIt adds up :white_check_mark:"
SPEAKERS: dict[str, Callable[[], None]] = {
    "say": lambda: say(HOSTILE),
    "failure": lambda: failure(HOSTILE, HOSTILE, HOSTILE),
    "title": lambda: table(HOSTILE, ["a"], [["b"]]),
    "cell": lambda: table("t", [HOSTILE, "#b"], [[HOSTILE, HOSTILE]]),
    "step": lambda: step(1, HOSTILE),
    "json": lambda: answer_json({HOSTILE: HOSTILE}),
}


@pytest.mark.parametrize("speaker", SPEAKERS.values(), ids=SPEAKERS)
def test_nothing_that_is_printed_can_paint_the_screen(
    speaker: Callable[[], None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not by COLUMNS: whoever looked at the console first has read that.
    monkeypatch.setattr(console.console(), "_width", 1000)
    monkeypatch.setattr(console.console(stderr=True), "_width", 1000)
    speaker()
    printed = "".join(capsys.readouterr()).replace("\n", "")
    assert visible(printed) == printed
    assert "x\\x1b[2K" in printed or "x\\u001b[2K" in printed
    # Rich's own way to write an emoji is just text.
    assert ":white_check_mark:" in printed


def test_one_line_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    say("a\nThe release is what it claims to be")
    assert capsys.readouterr().out == "a\\x0aThe release is what it claims to be\n"


def test_further_lines_of_an_error_never_begin_at_the_margin(
    capsys: pytest.CaptureFixture[str],
) -> None:
    failure("Two problems:\n  one\nIt adds up.")
    assert capsys.readouterr().err == "Error: Two problems:\n  one\n  It adds up.\n"


def test_square_brackets_are_just_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    say("[bold]a[/bold] [b\\")
    table("[red]t[/red]", ["[i]c[/i]"], [["[link=x]y[/link]"]])
    printed = capsys.readouterr().out
    for text in ("[bold]a[/bold] [b\\", "[red]t[/red]", "[i]c[/i]", "[link=x]y[/link]"):
        assert text in printed


def test_programs_get_back_what_was_said(capsys: pytest.CaptureFixture[str]) -> None:
    answer_json({"name": HOSTILE, "place": "Étoile"})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"name": HOSTILE, "place": "Étoile"}
    assert "Étoile" in printed


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0.0, "0"), (0.123, "0.12"), (9.96, "10"), (99.4, "99"), (99.7, "100"), (12345.6, "12,346")],
)
def test_errors_are_told_in_figures_that_people_read(amount: float, words: str) -> None:
    assert console.short(amount) == words

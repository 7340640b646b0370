"""Figures in the pages come out of kept results, and what stands behind none is listed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tools.docs import figures, keep, measured, not_kept, results
from tools.docs.numbers import KnownNumbers, numbers_of
from tools.docs.write import wrong_figures

ROOT = Path(__file__).parents[2]
TABLE = "| method | ε = 1 | printed |\n| --- | ---: | ---: |\n| O5 | 0.963 ± 0.0055 | 0.91 |\n"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (results, figures, not_kept):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    monkeypatch.setattr(results, "NOT_KEPT", tmp_path.with_suffix(".toml"))
    results.NOT_KEPT.write_text('[results]\nlater = "Timings."\n')
    (tmp_path / "study.txt").write_text(
        "# command: python study.py 5\n# day: 2026-03-03\n\n"
        f"### Errors\n\n{TABLE}\nshare 0.0793 of 1,311 trips, held 97.5 %\n"
    )
    return tmp_path


def page(text: str, *, marker: str = "study", command: str = "`python study.py 5`") -> str:
    return f"# Title\n{command}\n\n<!-- measured: {marker} -->\n{text}\n<!-- end of measured -->\n"


def test_no_figure_in_the_pages_is_without_its_result_or_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    assert wrong_figures() == []


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    "right",
    [
        "The error is 0.963, 0.96 or 1.0, of 1,311 trips.",
        "It is 7.9% of all, or 8 %.",
        "97.5% held, a share of .975.",
        "There are 1.3 thousand trips.",
        TABLE,
        "| | found |\n|---|---|\n| the first 77 | 0.963 |",
        "At ε = 0.5, 2 and 7 (figure 4, seed 3) it is 0.963.",
        "`44` and [a link](page-44.md) and 2026-03-04 at 08:44, O44, 44-grams.",
    ],
)
def test_numbers_are_right_that_a_result_gives_when_rounded(right: str) -> None:
    assert measured.problems(page(right)) == []


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("wrong", "number"),
    [
        ("The error is 0.962.", "0.962"),
        ("The error is 0.95.", "0.95"),
        ("Of 1,312 trips.", "1,312"),
        ("It is 7.8% of all.", "7.8"),
        ("It is 7.9 of all.", "7.9"),
        (TABLE.replace("0.963", "0.964"), "0.964"),
        (TABLE.replace("0.0055", "0.0056"), "0.0056"),
    ],
)
def test_a_changed_number_is_caught(wrong: str, number: str) -> None:
    (problem,) = measured.problems(page(wrong))
    assert problem.startswith(f"{number} does not come out of study")


@pytest.mark.usefixtures("kept")
def test_numbers_that_the_marker_gives_are_not_looked_at_and_must_be_there() -> None:
    given = page("95 of 100 times", marker="study; given: 95, 100")
    assert measured.problems(given) == []
    superfluous = page("95 times", marker="study; given: 95, 100")
    assert "100 is listed as given" in measured.problems(superfluous)[0]


@pytest.mark.usefixtures("kept")
def test_a_page_that_does_not_name_the_command_is_caught() -> None:
    (problem,) = measured.problems(page("0.963", command="`python study.py 6`"))
    assert problem == "The command of study is not named: python study.py 5"
    assert measured.problems(page("0.963", command="`python\nstudy.py 5`")) == []
    assert measured.problems(page("0.963", command="`FOLDER=... python study.py 5`")) == []
    for another in ("`python study.py 50`", "`python study.py 5 --large`"):
        assert len(measured.problems(page("0.963", command=another))) == 1


@pytest.mark.usefixtures("kept")
def test_a_result_that_is_not_there_and_a_block_without_an_end_are_caught() -> None:
    assert "nothing.txt is not there" in measured.problems(page("1", marker="nothing"))[0]
    assert "no end" in measured.problems("<!-- measured: study -->\n1\n")[0]


def test_a_result_without_a_command_is_caught(kept: Path) -> None:
    (kept / "bare.json").write_text('{"seconds": 1.5}')
    assert "which command made bare" in measured.problems(page("1.5", marker="bare"))[0]


def test_a_block_may_quote_several_results(kept: Path) -> None:
    (kept / "other.txt").write_text("# command: python study.py 5\n\n42\n")
    assert measured.problems(page("0.963 and 42", marker="study, other")) == []
    assert len(measured.problems(page("0.963 and 42"))) == 1


@pytest.mark.usefixtures("kept")
def test_a_table_of_a_result_is_written_as_it_is() -> None:
    marked = "Before\n<!-- figures: study | Errors -->\nold\n<!-- end of figures -->\nafter\n"
    found = figures.written(marked)
    assert f"-->\n\n{TABLE}\n<!--" in found
    assert figures.written(found) == found
    assert figures.unnamed_commands(found) == [
        "The command of study is not named: python study.py 5"
    ]
    assert figures.unnamed_commands(f"`python study.py 5`\n{found}") == []
    with pytest.raises(KeyError, match="Others"):
        figures.written(marked.replace("Errors", "Others"))


@pytest.mark.usefixtures("kept")
def test_blocks_of_results_that_wait_are_left_as_they_are() -> None:
    assert measured.problems(page("77 s", marker="later")) == []
    marked = "<!-- figures: later | Errors -->\nold\n<!-- end of figures -->\n"
    assert figures.written(marked) == marked
    assert figures.unnamed_commands(marked) == []


def test_a_result_waits_as_long_as_nobody_keeps_it_and_no_longer(kept: Path) -> None:
    quoting = [page("", marker="study, later")]
    assert not_kept.result_problems({"later"}, quoting) == []
    assert "quoted nowhere" in not_kept.result_problems({"later"}, [page("")])[0]
    assert "quoted nowhere" in not_kept.result_problems(set(), [])[0]
    (kept / "later.json").write_text("{}")
    assert not_kept.result_problems({"later"}, quoting) == []
    assert "which command made later" in not_kept.result_problems(set(), quoting)[0]
    (kept / "later.txt").write_text("# command: python later.py\n\n77\n")
    assert "later is kept: strike it off" in not_kept.result_problems({"later"}, quoting)[0]


def test_half_a_digit_is_as_far_as_a_number_may_be_off() -> None:
    known = KnownNumbers("0.12345 2e-05 -7")
    for right in ("0.12345", "0.1235", "0.123", "0.1", "0", "2e-05", "0.00002", "7"):
        assert known.hold(numbers_of(right)[0], percent=False), right
    for wrong in ("0.1236", "0.122", "0.2", "3e-05", "0.00003", "8"):
        assert not known.hold(numbers_of(wrong)[0], percent=False), wrong


@pytest.mark.parametrize(
    "figure",
    [
        "It takes 5 s.",
        "It takes 3.2 minutes.",
        "At most 4 GB.",
        "7% of them",
        "2.5 times as much",
        "0.963 on average",
        "| a | b |\n|---|---|\n| x | 3 |",
    ],
)
def test_figures_outside_of_markers_are_found(figure: str) -> None:
    text = f"# Title\nwords\n## Part\n{figure}\n## End\n`5 s`, in 5 steps, at table 3\n"
    assert not_kept.sections_with_figures(text) == ["Part"]
    marked = f"<!-- measured: a -->\n{figure}\n<!-- end of measured -->\n"
    assert not_kept.sections_with_figures(f"# Title\n{marked}") == []


def test_the_list_of_what_is_not_kept_can_only_shrink() -> None:
    pages = {"page.md": "# Title\n5 s\n## Part\nwords\n"}
    assert not_kept.problems({"page.md": {"Title": "why"}}, pages) == []
    (missing,) = not_kept.problems({}, pages)
    assert "'Title' has figures without" in missing
    listed = {"page.md": {"Title": "why", "Part": "no more"}, "gone.md": {}}
    spare, gone = not_kept.problems(listed, pages)
    assert "'Part'" in spare
    assert "strike it off" in spare
    assert gone.startswith("gone.md")


def test_what_a_command_prints_is_kept_with_how_it_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in (["init"], ["-c", "user.name=a", "-c", "user.email=a", "commit", "--allow-empty"]):
        command = ["git", *words, *(["-m", "first"] if "commit" in words else [])]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "docs").mkdir()
    (tmp_path / "saved.json").write_text('{"a": 1.5}')
    monkeypatch.chdir(tmp_path)
    program = "import os; print('50%\\r' + os.getcwd() + '/file \\x1b[1m3.5\\x1b[0m')"
    keep.keep("one", ["python", "-c", program], saved=Path("saved.json"))
    monkeypatch.setattr(results, "RESULTS", Path("docs/results"))
    found = results.read_result("one")
    assert found.text.startswith("./file 3.5\n")
    assert json.loads(found.text.splitlines()[-1]) == {"a": 1.5}
    assert found.made["command"].startswith("python -c")
    assert set(found.made) == {"command", "day", "commit", "machine"}
    assert "cores" in found.made["machine"]


def test_progress_and_places_of_the_machine_are_not_kept() -> None:
    text = f"10%|█  | 1/9 [00:01, 1it/s]\n{Path(sys.executable).anchor}usr 1\n{Path.home()}/x 2\n"
    assert keep.cleaned(text) == "/usr 1\nHOME/x 2\n"

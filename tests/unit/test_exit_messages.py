"""Whatever goes wrong ends in one clear message, and tells nothing of a row."""

import contextlib
import errno
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hushway import interruption
from hushway.cli import verbs
from hushway.cli.app import main
from hushway.crash_notes import MOST_NOTES, keep_details
from hushway.errors import DataError, Told
from hushway.exit_messages import error_message_of

PRIVATE = "rider-private-007"
MISSING = "libgomp.so.1: cannot open shared object file: No such file or directory"


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(interruption, "_command", interruption._Command())
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def notes(state: Path) -> list[Path]:
    """Returns the files that tell where errors happened, the first one first."""
    return sorted((state / "hushway" / "errors").glob("*"))


def fail(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def verb() -> None:
        raise error

    monkeypatch.setattr(verbs, "app", verb)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1


def descend() -> None:
    descend()


def test_what_nobody_foresaw_is_one_sentence_and_a_private_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = ValueError(f"no place for {PRIVATE}")
    error.__context__ = KeyError(PRIVATE)
    error.add_note(f"while reading {PRIVATE}")
    error.add_note(Told("ε 1 of account trips is spent."))
    fail(error, monkeypatch)
    said = capsys.readouterr().err
    assert "Something went wrong that hushway did not foresee: ValueError." in said
    assert "ε 1 of account trips is spent." in said
    assert "Report it" in said
    assert "Traceback" not in said
    (details,) = notes(tmp_path)
    assert str(details) in said
    assert stat.S_IMODE(details.stat().st_mode) == 0o600
    assert stat.S_IMODE(details.parent.stat().st_mode) == 0o700
    written = details.read_text(encoding="utf-8")
    assert f"{Path(__file__).name}:" in written
    assert "builtins.ValueError" in written
    assert "builtins.KeyError" in written
    assert PRIVATE not in said + written


def no_folder(_folder: Path) -> int:
    raise PermissionError


def test_without_a_home_details_are_in_a_private_folder_of_the_temporary_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null/state")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = keep_details(ValueError(PRIVATE))
    assert kept is not None
    assert tmp_path in kept.parents
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700


def test_only_the_last_details_are_kept(tmp_path: Path) -> None:
    kept = [keep_details(ValueError(PRIVATE)) for _ in range(MOST_NOTES + 3)]
    assert notes(tmp_path) == kept[3:]


def test_details_that_cannot_be_written_are_said_to_be_lost(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null/state")
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent/temporary")
    monkeypatch.setattr("hushway.crash_notes.hold_private", no_folder)
    fail(ValueError(PRIVATE), monkeypatch)
    said = capsys.readouterr().err
    assert "could not be written" in said
    assert PRIVATE not in said


def test_an_endless_descent_leaves_a_short_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verbs, "app", descend)
    with pytest.raises(SystemExit):
        main()
    assert "nested too deeply" in capsys.readouterr().err
    (details,) = notes(tmp_path)
    assert details.read_text(encoding="utf-8").count("descend") <= 100


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError(PRIVATE), "Out of memory."),
        (OSError(errno.ENOMEM, PRIVATE), "Out of memory."),
        (RuntimeError("can't start new thread"), "Out of memory."),
        (ImportError("x.so: failed to map segment from shared object"), "Out of memory."),
        (OSError(errno.ENOSPC, PRIVATE), "The disk is full"),
        (OSError(errno.EROFS, PRIVATE), "does not allow hushway"),
        (ImportError(MISSING), "cannot be loaded: libgomp.so.1."),
        (OSError(MISSING), "cannot be loaded: libgomp.so.1."),
        (ModuleNotFoundError("No module named 'rich'", name="rich"), "cannot be loaded: rich."),
        (OSError(f"{PRIVATE} libthief.so.1"), "did not foresee: OSError."),
    ],
)
def test_errors_of_the_machine_have_sentences_of_their_own(
    error: BaseException, sentence: str
) -> None:
    ending = error_message_of(error)
    assert sentence in ending.message
    assert ending.advice
    assert PRIVATE not in ending.message + ending.advice
    assert "thief" not in ending.message + ending.advice


def test_a_deliberate_error_says_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = DataError("The rows are upside down.", advice="Turn them.")
    error.add_note("Nothing was spent.")
    fail(error, monkeypatch)
    assert capsys.readouterr().err.splitlines() == [
        "Error: The rows are upside down.",
        "Nothing was spent.",
        "What to do: Turn them.",
    ]
    assert notes(tmp_path) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(130)])
def test_an_interruption_is_one_message(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fail(error, monkeypatch)
    assert capsys.readouterr().err.splitlines() == ["Error: Interrupted.", "Nothing was spent."]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("error", [RuntimeError(PRIVATE), DataError("Not a library of DuckDB.")])
def test_an_interruption_that_a_library_turned_into_an_error_is_one(
    number: signal.Signals,
    error: Exception,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def verb() -> None:
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(number)
        raise error

    monkeypatch.setattr(verbs, "app", verb)
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err.splitlines() == ["Error: Interrupted.", "Nothing was spent."]
    assert notes(tmp_path) == []


def test_an_interruption_tells_what_the_command_has_spent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def verb() -> None:
        interruption.stands("ε 1 of account trips is spent.")
        raise KeyboardInterrupt

    monkeypatch.setattr(verbs, "app", verb)
    with pytest.raises(SystemExit):
        main()
    assert "ε 1 of account trips is spent." in capsys.readouterr().err


def test_a_second_interruption_does_not_cut_the_message_short(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def again(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)
        raise ValueError

    monkeypatch.setattr("hushway.cli.console.failure", again)
    fail(KeyboardInterrupt(), monkeypatch)
    assert capsys.readouterr().err.splitlines() == ["Error: Interrupted.", "Nothing was spent."]


def test_what_goes_wrong_beside_the_command_is_not_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def verb() -> None:
        worker = threading.Thread(target=int, args=(PRIVATE,))
        worker.start()
        worker.join()

    monkeypatch.setattr(verbs, "app", verb)
    with pytest.raises(SystemExit):
        main()
    assert PRIVATE not in capsys.readouterr().err


# Help is plain text; whatever shows how far it is needs Rich.
@pytest.mark.parametrize(("library", "verb"), [("typer", "--help"), ("rich", "warm")])
def test_a_library_that_cannot_be_loaded_is_one_message_from_the_very_start(
    library: str, verb: str, tmp_path: Path
) -> None:
    (tmp_path / f"{library}.py").write_text(f"raise ImportError({MISSING!r})\n", encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
    code += "from hushway.cli.app import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", code, verb], capture_output=True, text=True, check=False
    )
    assert found.returncode == 1
    assert "Error: A library that hushway needs cannot be loaded: libgomp.so.1." in found.stderr
    assert "Traceback" not in found.stderr

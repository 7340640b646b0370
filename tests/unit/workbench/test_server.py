"""How the workbench begins and ends."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import httpx2
import pytest
import uvicorn
from typer.testing import CliRunner

from hushway.cli.demo import how_to_open
from hushway.cli.verbs import app
from hushway.errors import HushwayError
from hushway.workbench import serve as verb
from hushway.workbench import server
from support import held_child
from support.little_bench import come_in, spent, wait_for


def test_missing_libraries_are_one_error_that_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(verb, "_LIBRARIES", ("starlette", "no_such_library"))
    with pytest.raises(HushwayError, match=r"not installed: no_such_library\.") as caught:
        verb.refuse_missing_libraries()
    assert "hushway[serve]" in caught.value.advice


def test_the_demo_ends_by_saying_how_to_open_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert how_to_open(Path("demo")).endswith("in a browser: hushway serve demo")
    monkeypatch.setattr(verb, "_LIBRARIES", ("no_such_library",))
    assert "pip install 'hushway[serve]', then hushway serve demo" in how_to_open(Path("demo"))


def test_a_port_that_is_taken_is_one_error() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(HushwayError, match="cannot be used") as caught:
            server.run_workbench(
                [Path()], host="127.0.0.1", port=port, announce=print, notice=print
            )
    assert "--port" in caught.value.advice


def test_there_is_no_folder_that_is_not_there(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["serve", str(tmp_path / "none")])
    assert isinstance(result.exception, HushwayError)
    assert "no plan or folder" in str(result.exception)


def test_whoever_lets_others_ask_is_warned_and_readers_stay_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda _server, sockets: len(sockets))
    monkeypatch.setattr(server, "ReaderProcess", None)
    server.run_workbench(
        [tmp_path],
        host="0.0.0.0",  # noqa: S104  what is warned of
        port=0,
        announce=said.append,
        notice=said.append,
    )
    warning, address = said
    assert "Others on the network" in warning
    assert "/#token=" in address


def test_a_name_of_two_numbers_is_announced_as_the_one_that_is_listened_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Browsers try [::1] first for localhost, where somebody else may listen."""
    said: list[str] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda _server, sockets: len(sockets))
    monkeypatch.setattr(server, "ReaderProcess", nullcontext)
    server.run_workbench(
        [tmp_path], host="localhost", port=0, announce=said.append, notice=said.append
    )
    (address,) = said
    assert address.startswith("http://127.0.0.1:")


def test_the_browser_is_not_told_the_token_where_others_can_see_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", opened.append)
    with verb.opened_privately("http://127.0.0.1:1/#token=secret"):
        (address,) = opened
        assert "secret" not in address
        (file,) = tmp_path.iterdir()
        assert file.as_uri() == address
        assert file.stat().st_mode & 0o077 == 0
        assert "token=secret" in file.read_text("utf-8")
    assert not file.exists()


def test_ctrl_c_waits_for_a_publish_and_a_second_one_interrupts_it(
    funded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = tmp_path / "held"
    held.mkdir()
    monkeypatch.setenv(held_child.FOLDER, str(held))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    served = (sys.executable, "-m", "support.held_server")
    process = subprocess.Popen(
        # As a shell does with what it starts in the background.
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *served, str(funded.parent)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        origin = address.partition("/#")[0]
        transport = httpx2.HTTPTransport(retries=50)
        with httpx2.Client(base_url=origin, timeout=60, transport=transport) as client:
            come_in(client, address)
            plan = client.get("/api/state").json()["plans"][0]["id"]
            headers = {"Origin": origin}
            client.post(f"/api/plans/{plan}/publish", json={"confirm": "1"}, headers=headers)
            wait_for(held / held_child.WAITS)
        process.send_signal(signal.SIGINT)
        assert "waiting for it" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        told = process.stdout.readline()
        assert told.startswith("Interrupted.")
        assert "is spent for" in told
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    assert spent(funded) == 1
    assert not (funded.parent / "release").exists()

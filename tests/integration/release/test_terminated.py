"""A request to end, as a scheduler sends it, is taken like Ctrl-C."""

import signal
import subprocess
import sys
from pathlib import Path

from hushway.privacy.ledger import Ledger
from hushway.steward.demo import PLAN

# The command, stopped where the rows are being counted: long enough for a signal to come.
SLOW = """
import sys, time
from hushway.cli.app import main
from hushway.privacy.curator import Curator

def slow(*_):
    print("counting", flush=True)
    time.sleep(60)

Curator.counts = slow
sys.argv = ["hushway", "publish", "--yes", "--anyway", sys.argv[1]]
main()
"""


def test_a_request_to_end_leaves_one_message_and_nothing_behind(city: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, str(city / PLAN)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "counting\n"
        running.send_signal(signal.SIGTERM)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 1
    assert said.count("Interrupted.") == 1
    assert "is spent" in said
    assert "Traceback" not in said
    assert not (city / "release").exists()
    assert not list(city.glob(".release*"))
    with Ledger.connect(city / "ledger.db") as ledger:
        assert [entry.kind for entry in ledger.entries()][-1] == "abandon"

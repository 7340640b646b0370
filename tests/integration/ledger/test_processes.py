"""Many processes at one ledger, and processes that die at any moment."""

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest

from hushway.privacy.bound import Unit
from hushway.privacy.ledger import AccountKey, Ledger, Span
from hushway.privacy.loss import ZCDPLoss

PROCESSES = [f"w{number}" for number in range(16)]
KEY = AccountKey(dataset="metro", unit=Unit.PERSON, period="2026-03")

# A parent that imports once and then forks workers on command. It opens no ledger itself, and it
# keeps the dead until they are asked for, so that no other process can inherit their number.
NURSERY = '''
import os
import signal
import sys
import time
from datetime import date
from fractions import Fraction
import sqlalchemy.dialects.postgresql.psycopg
import sqlalchemy.dialects.sqlite
from hushway.errors import BudgetError
from hushway.privacy.ledger import AccountKey, Ledger
from hushway.privacy.loss import ZCDPLoss
from hushway.privacy.bound import Unit
from hushway.release.job import window_of_days

MARCH = window_of_days(date(2026, 3, 1), date(2026, 3, 31), "Europe/Paris")
KEY = AccountKey(dataset="metro", unit=Unit.PERSON, period="2026-03")
script, url, folder = sys.argv[1:4]
children = {}
gate_out, gate_in = os.pipe()

def live(name):
    """A worker: waits at the gate, then runs the script and writes what it says to its own file."""
    os.close(gate_in)
    with open(f"{folder}/{name}.out", "w") as out:
        os.read(gate_out, 1)
        exec(script, {**globals(), "name": name, "say": lambda *w: print(*w, file=out, flush=True)})

for line in sys.stdin:
    verb, *names = line.split()
    if verb == "fork":
        for name in names:
            children[name] = os.fork()
            if not children[name]:
                try:
                    live(name)
                    os._exit(0)
                except BaseException:
                    sys.excepthook(*sys.exc_info())
                    os._exit(1)
    elif verb == "go":
        os.close(gate_in)
        gate_out, gate_in = os.pipe()
    else:
        if verb == "kill":
            os.kill(children[names[0]], signal.SIGKILL)
        status = os.waitpid(children.pop(names[0]), 0)[1]
        print(os.waitstatus_to_exitcode(status), flush=True)
for pid in children.values():
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
'''

OPEN = """
ledger = Ledger.connect(url)
try:
    ledger.open_account(KEY, ZCDPLoss(Fraction(1)))
    say("opened")
except BudgetError:
    say("refused")
"""

SPEND = """
ledger = Ledger.connect(url)
number = 0
while True:
    number += 1
    loss = ZCDPLoss(Fraction(1, 7) + Fraction(1, 10**9))
    try:
        ledger.reserve(KEY, release=f"{name}-{number}", losses=[loss], purpose="race", window=MARCH)
    except BudgetError as refusal:
        assert "left of its budget limit" in str(refusal), refusal
        break
    say("granted", f"{name}-{number}")
"""

# Everybody spends on months of two years in an order of their own, one dies in the middle of it.
ROLL = """
import random
order = [(year, month) for year in (2026, 2027) for month in range(1, 13)] * 2
random.Random(name).shuffle(order)
ledger = Ledger.connect(url)
for number, (year, month) in enumerate(order):
    days = window_of_days(date(year, month, 1), date(year, month, 28), "Europe/Paris")
    loss = ZCDPLoss(Fraction(1, 7) + Fraction(1, 10**9))
    try:
        ledger.reserve(KEY, release=f"{name}-{number}", losses=[loss], purpose="roll", window=days)
        say("granted", f"{name}-{number}")
    except BudgetError as refusal:
        assert "consecutive months around these days" in str(refusal), refusal
        say("refused", f"{name}-{number}")
"""

# Everybody wants the tenth of March, with other days around it, from an account of their own.
COVET = """
number = int(name[1:])
unit = Unit.PERSON if number % 2 else Unit.TRIP
key = AccountKey(dataset="metro", unit=unit, period=name)
days = window_of_days(date(2026, 3, 10 - number % 8), date(2026, 3, 10 + number), "Europe/Paris")
ledger = Ledger.connect(url)
try:
    loss = ZCDPLoss(Fraction(1, 9))
    ledger.reserve(key, release=name, losses=[loss], purpose="covet", window=days)
    say("granted", name)
except BudgetError as refusal:
    assert "cannot spend on" in str(refusal), refusal
    say("refused", name)
"""

LIVE = """
ledger = Ledger.connect(url)
number = 0
while True:
    number += 1
    release = f"{name}-{number}"
    loss = ZCDPLoss(Fraction(1, 3))
    spent = ledger.reserve(
        KEY, release=release, losses=[loss], purpose="risk", window=MARCH, secret=release
    )
    say("reserve", release, spent.entry_hash)
    if number % 3:
        say("publish", release, ledger.publish(spent, reference="sha256:0").hash)
    else:
        say("abandon", release, ledger.abandon(release, reason="chance").hash)
    # SQLite gives the lock to whoever asks at the right moment; without a pause one may starve.
    time.sleep(0.01)
"""


class Nursery:
    """The workers of one test."""

    def __init__(self, parent: "subprocess.Popen[str]", folder: Path) -> None:
        self.parent = parent
        self.folder = folder

    def fork(self, *names: str) -> None:
        """Starts workers that begin together."""
        self._tell("fork", *names)
        self._tell("go")

    def wait(self, name: str) -> int:
        """Waits for a worker's end and returns its exit code."""
        return self._ask("wait", name)

    def kill(self, name: str) -> int:
        """Sends SIGKILL to a worker and returns its exit code."""
        return self._ask("kill", name)

    def said(self, name: str) -> list[tuple[str, ...]]:
        """The complete lines of a worker; one that was killed may have left half a line."""
        path = self.folder / f"{name}.out"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        return [tuple(line.split()) for line in lines if line.endswith("\n")]

    def wait_for_a_word(self, name: str) -> None:
        while not self.said(name):
            assert self.parent.poll() is None
            time.sleep(0.01)

    def _tell(self, *words: str) -> None:
        assert self.parent.stdin is not None
        print(*words, file=self.parent.stdin, flush=True)

    def _ask(self, *words: str) -> int:
        self._tell(*words)
        assert self.parent.stdout is not None
        return int(self.parent.stdout.readline())


@contextmanager
def nursery(script: str, url: str, folder: Path) -> Iterator[Nursery]:
    command = [sys.executable, "-c", NURSERY, script, url, str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        # Leaving the block closes the parent's input, upon which it ends its workers and itself.
        yield Nursery(parent, folder)


def run_to_the_end(script: str, url: str, folder: Path) -> list[tuple[str, ...]]:
    with nursery(script, url, folder) as workers:
        workers.fork(*PROCESSES)
        assert [workers.wait(name) for name in PROCESSES] == [0] * len(PROCESSES)
        return [line for name in PROCESSES for line in workers.said(name)]


@pytest.mark.long
def test_sixteen_processes_can_open_a_new_ledger_at_once(ledger_url: str, tmp_path: Path) -> None:
    lines = run_to_the_end(OPEN, ledger_url, tmp_path)
    assert Counter(word for (word,) in lines) == {"opened": 1, "refused": 15}
    with Ledger.connect(ledger_url) as ledger:
        assert [account.key for account in ledger.accounts()] == [KEY]
        assert ledger.check() == []


def test_sixteen_processes_cannot_overspend_one_account(ledger_url: str, tmp_path: Path) -> None:
    budget_limit, amount = Fraction(10), Fraction(1, 7) + Fraction(1, 10**9)
    with Ledger.connect(ledger_url) as ledger:
        ledger.open_account(KEY, ZCDPLoss(budget_limit))
    granted = [release for _, release in run_to_the_end(SPEND, ledger_url, tmp_path)]
    assert len(granted) == budget_limit // amount == 69
    with Ledger.connect(ledger_url) as ledger:
        reserved = [entry.release for entry in ledger.entries(KEY) if entry.kind == "reserve"]
        assert sorted(reserved) == sorted(granted)
        assert ledger.account(KEY).spent == 69 * amount <= budget_limit
        assert ledger.check() == []


@pytest.mark.one_in(2)  # SQLite; PostgreSQL in long runs
def test_sixteen_processes_cannot_overspend_a_span(ledger_url: str, tmp_path: Path) -> None:
    span = Span(step="month", steps=6)
    with Ledger.connect(ledger_url) as ledger:
        ledger.open_account(KEY, ZCDPLoss(Fraction(1)), span=span)
    with nursery(ROLL, ledger_url, tmp_path) as workers:
        workers.fork(*PROCESSES)
        workers.wait_for_a_word("w0")
        assert workers.kill("w0") in (-9, 0)
        assert [workers.wait(name) for name in PROCESSES[1:]] == [0] * (len(PROCESSES) - 1)
        granted = {line[1] for n in PROCESSES for line in workers.said(n) if line[0] == "granted"}
    with Ledger.connect(ledger_url) as ledger:
        reserved = {entry.release for entry in ledger.entries(KEY) if entry.kind == "reserve"}
        assert granted <= reserved
        # The one that was killed had at most one entry on the way.
        assert len(reserved) <= len(granted) + 1
        # Six payments of a seventh fit into every span, and all spans of two years were wanted.
        account = ledger.account(KEY)
        assert Fraction(6, 7) < account.spent <= 1 < account.lifetime
        assert ledger.check() == []


@pytest.mark.long
def test_a_ledger_in_use_is_sound_at_every_moment(ledger_url: str, tmp_path: Path) -> None:
    with Ledger.connect(ledger_url) as ledger:
        ledger.open_account(KEY, ZCDPLoss(Fraction(100_000)))
        with nursery(LIVE, ledger_url, tmp_path) as workers:
            workers.fork("a", "b")
            for name in ("a", "b"):
                workers.wait_for_a_word(name)
            assert [ledger.check() for _ in range(20)] == [[]] * 20
            assert [workers.kill(name) for name in ("a", "b")] == [-9, -9]


@pytest.mark.one_in(2)  # SQLite; PostgreSQL in long runs
def test_a_ledger_survives_being_carried_into_a_forked_process(ledger_url: str) -> None:
    script = """
import os, sys
from datetime import date
from fractions import Fraction
from hushway.privacy.ledger import AccountKey, Ledger
from hushway.privacy.loss import ZCDPLoss
from hushway.privacy.bound import Unit
from hushway.release.job import window_of_days

march = window_of_days(date(2026, 3, 1), date(2026, 3, 31), "Europe/Paris")
key = AccountKey(dataset="metro", unit=Unit.PERSON, period="2026-03")
ledger = Ledger.connect(sys.argv[1])
ledger.open_account(key, ZCDPLoss(Fraction(1)))
child = os.fork()
for number in range(10):
    release = f"{'parent' if child else 'child'}-{number}"
    losses = [ZCDPLoss(Fraction(1, 20))]
    ledger.reserve(key, release=release, losses=losses, purpose="fork", window=march)
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", script, ledger_url], check=False).returncode == 0
    with Ledger.connect(ledger_url) as ledger:
        assert ledger.account(KEY).remaining == 0
        assert ledger.check() == []


@pytest.mark.one_in(2)  # SQLite; PostgreSQL in long runs
def test_what_was_acknowledged_survives_kill_9(ledger_url: str, tmp_path: Path) -> None:
    dice = random.Random(20260301)  # noqa: S311
    with Ledger.connect(ledger_url) as ledger:
        ledger.open_account(KEY, ZCDPLoss(Fraction(100_000)))
    generations = [[f"life{life}-{number}" for number in range(4)] for life in range(5)]
    with nursery(LIVE, ledger_url, tmp_path) as workers:
        for names in generations:
            workers.fork(*names)
            for name in dice.sample(names, len(names)):
                # One entry at least, so that no schedule is empty; then at any moment.
                workers.wait_for_a_word(name)
                time.sleep(dice.uniform(0, 0.15))
                assert workers.kill(name) == -9
            with Ledger.connect(ledger_url) as ledger:
                assert ledger.check() == []
        acknowledged = {line for names in generations for n in names for line in workers.said(n)}
    with Ledger.connect(ledger_url) as ledger:
        entries = {(str(e.kind), e.release, e.hash): e for e in ledger.entries(KEY)}
        account = ledger.account(KEY)
    assert acknowledged <= set(entries)
    # Besides the opening, a worker had at most one entry on the way when it died.
    assert len(entries) - 1 - len(acknowledged) <= sum(map(len, generations))
    assert (
        account.spent
        == sum(entry.amount for entry in entries.values())
        <= account.budget_limit.amount
    )


@pytest.mark.one_in(2)  # SQLite; PostgreSQL in long runs
def test_sixteen_processes_cannot_buy_one_day_from_sixteen_accounts(
    ledger_url: str, tmp_path: Path
) -> None:
    with Ledger.connect(ledger_url) as ledger:
        for number, name in enumerate(PROCESSES):
            unit = Unit.PERSON if number % 2 else Unit.TRIP
            key = AccountKey(dataset="metro", unit=unit, period=name)
            ledger.open_account(key, ZCDPLoss(Fraction(1)))
    lines = run_to_the_end(COVET, ledger_url, tmp_path)
    assert Counter(word for word, _ in lines) == {"granted": 1, "refused": 15}
    (winner,) = [name for word, name in lines if word == "granted"]
    with Ledger.connect(ledger_url) as ledger:
        reserved = [entry.release for entry in ledger.entries() if entry.kind == "reserve"]
        assert reserved == [winner]
        assert sum(account.spent for account in ledger.accounts()) == Fraction(1, 9)
        assert ledger.check() == []

"""What a ledger file may stand on: one name, and a disk whose locks hold."""

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from hushway.errors import LedgerError
from hushway.privacy.ledger import Ledger, filesystem
from hushway.privacy.loss import PureLoss
from support.ledgers import METRO as KEY


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with Ledger.connect(tmp_path / "ledger.db") as ledger:
        ledger.open_account(KEY, PureLoss(Fraction(9)))
    return tmp_path / "ledger.db"


def test_a_file_with_two_names_is_opened_under_neither(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.hardlink_to(file)
    for name in (file, other, f"sqlite:///{file}?mode=ro"):
        with pytest.raises(LedgerError, match="2 names"):
            Ledger.connect(name)
    other.unlink()
    with Ledger.connect(file) as ledger:
        assert len(ledger.accounts()) == 1


def test_a_second_name_that_is_given_meanwhile_is_noticed_before_anything_is_written(
    file: Path, tmp_path: Path
) -> None:
    with Ledger.connect(file) as ledger:
        (tmp_path / "other.db").hardlink_to(file)
        with pytest.raises(LedgerError, match="2 names"):
            ledger.declare_people("riders", ["metro"])


def test_a_name_by_symbolic_link_is_the_same_name(file: Path, tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(file)
    with Ledger.connect(tmp_path / "link.db") as ledger:
        ledger.declare_people("riders", ["metro"])
    with Ledger.connect(file) as ledger:
        assert ledger.lost()[0].people.name == "riders"


_IN_TWO_PLACES = """
mount --bind {source} {target} && {python} -c '
import sys
from hushway.errors import LedgerError
from hushway.privacy.ledger import Ledger
try:
    with Ledger.connect(sys.argv[1]) as ledger:
        print("opened", len(ledger.accounts()))
except LedgerError as refusal:
    print("refused", refusal)
' {ledger}
"""


def mounted(source: Path, target: Path, ledger: Path) -> str:
    """Mounts one place at another, where only a child can see it, and opens a ledger there."""
    script = _IN_TWO_PLACES.format(
        source=source, target=target, python=sys.executable, ledger=ledger
    )
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("this user cannot mount anything")
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs to mount")
def test_a_file_that_is_mounted_by_itself_is_refused_and_one_in_a_mounted_folder_is_not(
    file: Path, tmp_path: Path
) -> None:
    place = tmp_path / "else where"
    place.mkdir()
    (place / "ledger.db").touch()
    quoted = Path(f"'{place}'")
    assert "mounted as a single file" in mounted(
        file, Path(f"'{place}/ledger.db'"), Path(f"'{place}/ledger.db'")
    )
    assert mounted(file.parent, quoted, Path(f"'{place}/ledger.db'")) == "opened 1\n"


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "9p", "virtiofs", "fuse.sshfs"])
def test_file_systems_of_networks_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    share = tmp_path / "a share"
    share.mkdir()
    lines = [
        "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw",
        f"40 22 0:50 / {str(share).replace(' ', chr(92) + '040')} rw - {kind} server:/export rw",
    ]
    monkeypatch.setattr(filesystem, "_MOUNTS", tmp_path / "mountinfo")
    (tmp_path / "mountinfo").write_text("\n".join(lines), encoding="utf-8")
    assert filesystem.file_system_of(share / "ledger.db") == kind
    with pytest.raises(LedgerError, match=f"of the type {kind}"):
        Ledger.connect(share / "ledger.db")
    assert list(share.iterdir()) == []
    Ledger.connect(tmp_path / "ledger.db").close()


@pytest.mark.parametrize("probe", range(len(filesystem._PROBES)))
def test_a_disk_whose_locks_or_memory_do_not_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, probe: int
) -> None:
    probes = list(filesystem._PROBES)
    with (tmp_path / "a").open("w+b") as one, (tmp_path / "b").open("w+b") as other:
        for file in (one, other):
            file.write(bytes(8))
            file.flush()
        # Two files are what one file is to a disk that forgets whose it is.
        assert not probes[probe](one, other)
    probes[probe] = lambda *_: False
    monkeypatch.setattr(filesystem, "_PROBES", probes)
    with pytest.raises(LedgerError, match="locks or shared memory do not hold"):
        Ledger.connect(tmp_path / "ledger.db")
    assert not (tmp_path / "ledger.db").exists()


def test_a_machine_that_tells_nothing_of_its_mounts_keeps_ledgers_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filesystem, "_MOUNTS", tmp_path / "nothing")
    assert filesystem.file_system_of(tmp_path) == ""
    Ledger.connect(tmp_path / "ledger.db").close()

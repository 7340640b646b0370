"""A process that reads a stranger's file opens nothing else."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

# Asked in a process of its own: nothing takes the limits away again.
TRY = """
import json, os, socket, sys
from pathlib import Path
from hushway.release.untrusted.landlock import allow_only

given, kept, into = (Path(name) for name in sys.argv[1:4])
port, parent = int(sys.argv[4]), Path(f"/proc/{os.getppid()}/environ")
bound = allow_only(reads=[given], writes=[into])


def works(deed):
    try:
        deed()
    except OSError:
        return False
    return True


import numpy, duckdb, pyarrow.parquet

print(json.dumps({
    "bound": bound,
    "reads what it is given": works((given / "file").read_bytes),
    "writes where it may": works(lambda: (into / "new").write_text("x")),
    "reads what it wrote": works((into / "new").read_bytes),
    "changes what it is given": works(lambda: (given / "file").write_text("x")),
    "reads a ledger": works((kept / "ledger.db").read_bytes),
    "changes a ledger": works(lambda: (kept / "ledger.db").write_text("x")),
    "lists a folder": works(lambda: list(kept.iterdir())),
    "makes a file": works(lambda: (kept / "new").touch()),
    "reads by a link": works((given / "link").read_bytes),
    "reads its parent's environment": works(parent.read_bytes),
    "calls somebody": works(lambda: socket.create_connection(("127.0.0.1", port)).close()),
}))
"""


def test_it_reads_what_it_was_given_and_nothing_else(tmp_path: Path) -> None:
    given, kept, into = (tmp_path / name for name in ("given", "kept", "into"))
    for folder in (given, kept, into):
        folder.mkdir()
    (given / "file").touch()
    (kept / "ledger.db").touch()
    (given / "link").symlink_to(kept / "ledger.db")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        words = [sys.executable, "-c", TRY, *map(str, (given, kept, into)), port]
        done = subprocess.run(words, capture_output=True, check=True)
    found = json.loads(done.stdout)
    if not found.pop("bound"):
        pytest.skip("this system has no Landlock")
    found.pop("calls somebody")  # kernels before 6.7 cannot close that
    works = {"reads what it is given", "writes where it may", "reads what it wrote"}
    assert {deed for deed, worked in found.items() if worked} == works

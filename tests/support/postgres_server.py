"""A private PostgreSQL server on loopback, made of the machine's own binaries."""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

STARTUP_S = 60
ATTEMPTS = 5
SUPERUSER = "hushway"
# A guard beside the server holds a pipe from this process: when the tests end, however they end,
# the pipe closes and the server stops, at once, since nobody needs its files any more.
GUARDED = """
exec 3<&0
(cat <&3 >/dev/null; kill -QUIT $$) &
exec "$@" 3<&- </dev/null
"""


def find_binaries() -> Path | None:
    """The folder of initdb and postgres, the newest version first."""
    found = shutil.which("initdb")
    versions = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"),
        key=lambda path: float(path.parts[-3]),
        reverse=True,
    )
    places = ([Path(found).resolve()] if found else []) + versions
    return next((path.parent for path in places if (path.parent / "postgres").exists()), None)


def identity() -> dict[str, Any]:
    """Who runs the server: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            person = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": person.pw_uid, "group": person.pw_gid, "extra_groups": []}
    pytest.skip("PostgreSQL does not run as root, and there is no other user")


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder with a short path (sockets allow 107 letters) that the server's user can reach."""
    bases = [tempfile.gettempdir(), "/tmp", "/var/tmp"]  # noqa: S108
    base = next((base for base in bases if not identity() or open_to_all(Path(base))), bases[0])
    folder = Path(tempfile.mkdtemp(prefix="hushway-pg-", dir=base))
    if identity():
        os.chown(folder, identity()["user"], identity()["group"])
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def open_to_all(folder: Path) -> bool:
    return all(path.stat().st_mode & 0o001 for path in [folder, *folder.resolve().parents])


@contextmanager
def running_server(binaries: Path, folder: Path) -> Iterator[str]:
    password = secrets.token_urlsafe(16)
    initialise(binaries, folder, password)
    for _ in range(ATTEMPTS):
        port = free_port()
        server = start(binaries, folder, port)
        try:
            url = f"postgresql://{SUPERUSER}:{password}@127.0.0.1:{port}/postgres"
            # Between looking for a port and taking it, somebody else may have been faster.
            if answers(server, url):
                yield url
                return
        finally:
            stop(server)
    pytest.fail("PostgreSQL did not start:\n" + (folder / "log").read_text()[-2000:])


def initialise(binaries: Path, folder: Path, password: str) -> None:
    password_file = folder / "password"
    password_file.write_text(password)
    if identity():
        os.chown(password_file, identity()["user"], identity()["group"])
    subprocess.run(
        [
            binaries / "initdb",
            *("--pgdata", folder / "data"),
            *("--username", SUPERUSER),
            *("--pwfile", password_file),
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--no-locale",
        ],
        check=True,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        **identity(),
    )


def start(binaries: Path, folder: Path, port: int) -> "subprocess.Popen[bytes]":
    settings = {
        "listen_addresses": "127.0.0.1",
        "port": port,
        "unix_socket_directories": folder,
        "shared_buffers": "16MB",
        "dynamic_shared_memory_type": "mmap",
    }
    options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            ["sh", "-c", GUARDED, "guard", binaries / "postgres", "-D", folder / "data", *options],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
            **identity(),
        )


def answers(server: "subprocess.Popen[bytes]", url: str) -> bool:
    """Waits until the server takes connections; False when it gave up."""
    deadline = time.monotonic() + STARTUP_S
    while server.poll() is None and time.monotonic() < deadline:
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return True
    return False


def stop(server: "subprocess.Popen[bytes]") -> None:
    assert server.stdin is not None
    server.stdin.close()
    try:
        server.wait(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port

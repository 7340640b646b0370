"""The readers' process: given releases alone, it shows them and nothing else."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from hushway.families.atlas import atlas_of
from hushway.families.load import load_plan, prepare
from hushway.release.drawing.atlas_files import atlas_files
from hushway.steward.publish import publish
from hushway.workbench.reader_process import ReaderProcess
from support.little_bench import open_account, write_plan
from support.monthly import publish_months

LEDGER_URL = "postgresql://steward:secret@ledger.example/budget"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A little release."""
    plan = write_plan(tmp_path_factory.mktemp("city"))
    open_account(plan)
    return publish(prepare(load_plan(plan))).folder


@pytest.fixture(scope="module")
def reader(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReaderProcess]:
    """A readers' process that shows it, and was also told of what is no release."""
    broken = tmp_path_factory.mktemp("broken") / "release"
    broken.mkdir()
    (broken / "seal.json").write_text("{}", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HUSHWAY_LEDGER", LEDGER_URL)
        process = ReaderProcess()
    with process:
        process.show([broken, release])
        yield process


@pytest.fixture
def client(reader: ReaderProcess) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=reader.url, timeout=60) as found:
        yield found


def test_it_shows_what_verifies_and_leaves_out_what_does_not(
    client: httpx2.Client, reader: ReaderProcess, release: Path
) -> None:
    (shown,) = client.get("site.json").json()["releases"]
    assert shown["release_type"] == "od"
    assert reader.slug_of(release) == shown["slug"] == "a-little-release"
    assert reader.slug_of(release.parent) is None
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "unsafe" not in page.headers["content-security-policy"]


def test_its_files_are_those_of_the_release_and_are_saved_not_shown(
    client: httpx2.Client, release: Path
) -> None:
    files = [file for file in release.rglob("*") if file.is_file()]
    assert len(files) > 10
    for file in files:
        path = f"releases/a-little-release/files/{file.relative_to(release).as_posix()}"
        answer = client.get(path)
        assert answer.content == file.read_bytes()
        assert answer.headers["content-disposition"].startswith("attachment")
    certificate = client.get("releases/a-little-release/certificate.html")
    assert certificate.headers["content-security-policy"].startswith("sandbox;")


def test_nothing_exact_is_in_any_answer(client: httpx2.Client, release: Path) -> None:
    """Whatever is answered about the release is in it, or is drawn from it alone."""
    atlas = client.get("releases/a-little-release/atlas.json").json()
    columns = client.get("releases/a-little-release/columns.bin").content
    drawn = atlas_files(atlas_of(release))
    assert atlas == json.loads(drawn.atlas)
    assert columns == drawn.columns
    site = json.dumps(client.get("site.json").json())
    for private in ("trips.csv", "ledger", "plan", str(release.parent)):
        assert private not in site


@pytest.mark.parametrize(
    "path", ["/", "/site.json", "/{secret}", "/{other}/", "/{other}/site.json"]
)
def test_whoever_does_not_know_its_address_reads_nothing(reader: ReaderProcess, path: str) -> None:
    """Every user of the machine can reach the port; the folder of a release may be for one only."""
    origin, secret, _ = reader.url.rsplit("/", 2)
    other = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    answer = httpx2.get(origin + path.format(secret=secret, other=other), timeout=60)
    assert answer.status_code == 401
    assert "releases" not in answer.text
    assert secret not in answer.text


def test_it_answers_under_every_number_of_its_name(reader: ReaderProcess) -> None:
    """Otherwise somebody else could, and a browser would show their pages."""
    name = reader.url.split("/")[2]
    port = int(name.rpartition(":")[2])
    numbers = {str(found[4][0]) for found in socket.getaddrinfo("localhost", port)}
    for number in numbers:
        origin = f"http://[{number}]:{port}" if ":" in number else f"http://{number}:{port}"
        path = f"{origin}/{reader.url.split('/')[3]}/site.json"
        try:
            answer = httpx2.get(path, headers={"Host": name}, timeout=60)
        except httpx2.ConnectError:
            # No such address on this machine: then nobody can listen there either.
            with (
                pytest.raises(OSError, match=r"assign|support"),
                socket.socket(socket.AF_INET6) as one,
            ):
                one.bind((number, 0))
            continue
        assert answer.status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(client: httpx2.Client, method: str) -> None:
    assert client.request(method, "/").status_code == 405


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost"])
def test_it_answers_under_its_own_name_only(client: httpx2.Client, host: str) -> None:
    assert client.get("/", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "path",
    [
        "/../plan.toml",
        "/%2e%2e/plan.toml",
        "/releases/..%2f..%2fplan.toml",
        "/releases/a-little-release/files/..%2f..%2f..%2fledger.db",
        "//etc/passwd",
        "/releases/",
        "/api/state",
    ],
)
def test_no_address_leads_out_of_the_site(client: httpx2.Client, path: str) -> None:
    # What leads out of the secret part of the address is not let in at all.
    assert client.get(path).status_code in {401, 404}


def test_it_is_given_neither_ledger_nor_plan(reader: ReaderProcess, release: Path) -> None:
    process = Path(f"/proc/{reader._process.pid}")
    if not process.exists():
        pytest.skip("this system does not tell of processes")
    given = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
    assert LEDGER_URL.encode() not in given
    assert b"HUSHWAY" not in given
    # Every user of the machine can read with which words a program was started.
    assert reader.url.split("/")[3].encode() not in given
    assert str(release.parent).encode() not in given
    opened = [str(link.readlink()) for link in (process / "fd").iterdir()]
    assert not [name for name in opened if "ledger" in name or name.endswith(".toml")]
    assert (process / "cwd").readlink() == Path("/")


def test_where_linux_can_do_that_it_changes_nothing(reader: ReaderProcess) -> None:
    bound = subprocess.run(
        [
            sys.executable,
            "-c",
            "from hushway.release.untrusted.landlock import allow_only as o; print(o(reads=[]))",
        ],
        capture_output=True,
        check=True,
    )
    if bound.stdout != b"True\n":
        pytest.skip("this system has no Landlock")
    status = Path(f"/proc/{reader._process.pid}/status").read_text(encoding="utf-8")
    assert "NoNewPrivs:\t1" in status


def test_a_later_list_takes_the_place_of_the_first(release: Path) -> None:
    with ReaderProcess() as process, httpx2.Client(base_url=process.url, timeout=60) as client:
        process.show([])
        assert client.get("site.json").json()["releases"] == []
        process.show([release])
        assert len(client.get("site.json").json()["releases"]) == 1
        ended: Any = process._process
    assert ended.poll() == 0


def test_what_it_drew_is_gone_also_if_it_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with ReaderProcess() as process:
        process.show([])
        assert list(tmp_path.rglob("site.json"))
        process._process.kill()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("in_the_middle", [False, True])
def test_it_ends_when_whoever_started_it_is_gone(
    release: Path, in_the_middle: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    process = ReaderProcess()
    started: Any = process._process
    if in_the_middle:
        started.stdin.write(json.dumps([str(release)]).encode() + b"\n")
        started.stdout.close()
    else:
        process.show([])
    started.stdin.close()
    until = time.monotonic() + 120
    while started.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.05)
    started.stdout.close()
    # Whoever started it could not clean up; what it drew is gone all the same.
    assert list(tmp_path.glob("*/*")) == []


def test_steps_of_a_series_are_shown_as_one(tmp_path: Path) -> None:
    months = sorted(publish_months(tmp_path).iterdir())
    with ReaderProcess() as process:
        process.show(months)
        site = httpx2.get(f"{process.url}site.json", timeout=60).json()
        assert [step["name"] for step in site["series"]["steps"] if step["slug"]] == [
            month.name for month in months
        ]
        process.show(months[:1])
        assert "series" not in httpx2.get(f"{process.url}site.json", timeout=60).json()

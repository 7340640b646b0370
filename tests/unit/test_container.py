"""The Dockerfile, without a builder: what it copies is there, and nobody runs as root."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()


def words_of(instruction: str) -> list[str]:
    return [line.partition(" ")[2] for line in LINES if line.startswith(f"{instruction} ")]


def test_people_who_write_many_find_nothing_wrong_with_it() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    subprocess.run([hadolint, ROOT / "Dockerfile"], check=True)


def test_what_it_copies_is_there_and_is_sent_to_the_builder() -> None:
    sent = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for words in words_of("COPY"):
        if "--from" not in words:
            for name in words.split()[:-1]:
                assert (ROOT / name).exists()
                assert f"!{name}" in sent


def test_extras_that_it_installs_have_locks() -> None:
    (installed,) = [words for words in words_of("RUN") if "install-locked" in words]
    for extra in installed.split()[2:]:
        assert (ROOT / "requirements" / "extras" / f"{extra}.lock").is_file()


def test_its_user_is_not_root() -> None:
    (user,) = words_of("USER")
    assert re.fullmatch(r"[1-9]\d*", user)

"""What people outside import from: every name is there, and docs ask for nothing deeper."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from hushway.families.registry import FAMILIES

ROOT = Path(__file__).parents[2]
FACES = ["hushway", "hushway.families", "hushway.transit"] + [
    f"hushway.families.{family}" for family in FAMILIES
]
DOCS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
# How a key is loaded is part of checking a release, and one name alone makes no face.
DEEPER = {"hushway.privacy.signing"}


@pytest.mark.parametrize("face", FACES)
def test_every_name_of_a_face_is_there(face: str) -> None:
    module = import_module(face)
    assert list(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("face", FACES)
def test_tab_completion_shows_the_names_of_a_face_and_no_others(face: str) -> None:
    module = import_module(face)
    assert dir(module) == sorted(module.__all__)


@pytest.mark.parametrize("face", FACES)
def test_a_name_that_is_not_there_is_an_attribute_error(face: str) -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = import_module(face).nothing


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_docs_import_from_faces_only(page: Path) -> None:
    found = re.findall(r"^(?:from|import) (hushway[\w.]*)", page.read_text("utf-8"), re.MULTILINE)
    assert set(found) <= {*FACES, *DEEPER}


@pytest.mark.parametrize("page", [*DOCS, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_files_that_docs_name_are_there(page: Path) -> None:
    named = set(re.findall(r"`([\w/]+/\w+\.py)`", page.read_text("utf-8")))
    places = (ROOT, ROOT / "src", ROOT / "src" / "hushway")
    assert [name for name in named if not any((place / name).is_file() for place in places)] == []

"""Every contract on imports fails once an import that it forbids is there."""

import tomllib
from copy import deepcopy
from pathlib import Path

import grimp
import pytest
from importlinter.application import use_cases
from importlinter.configuration import configure

ROOT = Path(__file__).parents[2]
# An import that each contract forbids: who imports, and what.
PLANTED = {
    "The data flow one way": ("hushway.release.job", "hushway.steward.publish"),
    "Families are strangers to each other": (
        "hushway.families.density.plan",
        "hushway.families.od.plan",
    ),
    "Mechanisms, fits and files never reach rows": (
        "hushway.families.od.fit.table",
        "hushway.families.od.rows.counter",
    ),
    "The guarantee stands on nothing of the product": (
        "hushway.privacy.curator",
        "hushway.release.job",
    ),
    "Studies and synthetic cities can be left out": (
        "hushway.steward.publish",
        "hushway.families.od.study.reproduce",
    ),
    "No circles": ("hushway.privacy.randomness", "hushway.privacy.curator"),
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(
        "hushway",
        include_external_packages=True,
        exclude_type_checking_imports=True,
        cache_dir=None,
    )


def broken(graph: grimp.ImportGraph, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(use_cases, "_build_graph", lambda **_: graph)
    configure()
    # The library's own command does these two steps.
    options = use_cases.read_user_options(str(ROOT / "pyproject.toml"))
    use_cases._register_contract_types(options)
    report = use_cases.create_report(options)
    assert not report.could_not_run
    return {one.name for one, check in report.get_contracts_and_checks() if not check.kept}


def test_every_contract_has_a_planted_import() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    assert {contract["name"] for contract in settings["contracts"]} == set(PLANTED)


def test_nothing_is_broken_as_it_is(
    graph: grimp.ImportGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert broken(graph, monkeypatch) == set()


@pytest.mark.parametrize("contract", PLANTED)
def test_a_contract_fails_when_an_import_breaks_it(
    contract: str, graph: grimp.ImportGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    importer, imported = PLANTED[contract]
    assert {importer, imported} <= graph.modules
    planted = deepcopy(graph)
    planted.add_import(importer=importer, imported=imported)
    assert contract in broken(planted, monkeypatch)

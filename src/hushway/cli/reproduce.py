"""Reproductions: the papers' own experiments on matched synthetic cities."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushway.cli.console import failure, say, table, working
from hushway.errors import PlanError
from hushway.families.registry import FAMILIES
from hushway.release.folder.new_file import make_folder
from hushway.release.study import Study, StudyOption
from hushway.transit.study.command import TRANSIT, reproduce_transit

if TYPE_CHECKING:
    from hushway.privacy.measured import Internal
    from hushway.study.results import Report

_RUN: dict[Study, Callable[..., "Internal[Report]"]] = {
    family.study: family.reproduce for family in FAMILIES.values() if family.study is not None
} | {TRANSIT: reproduce_transit}

reproduce = typer.Typer(
    help="Repeat the experiments of the papers, beside their published figures.",
    no_args_is_help=True,
)


def _command(study: Study, flags: list[Study]) -> Callable[..., None]:
    """Returns the command of a study; other studies of the same paper are flags of it."""

    def command(*, runs: int, folder: Path, force: bool, **chosen: Any) -> None:
        asked = next((other for other in flags if chosen[other.name]), study)
        _claim_results(folder, f"{asked.prefix}numbers.json", force=force)
        for other in flags:
            _refuse_options_of(other, asked, chosen)
        _run(asked, {option.name: chosen[option.name] for option in asked.options}, runs, folder)

    command.__signature__ = Signature(list(_parameters(study, flags)))  # type: ignore[attr-defined]
    command.__annotations__ = {}
    return command


def _parameters(study: Study, flags: list[Study]) -> Iterator[Parameter]:
    where = Path(f"reproduce-{study.name}")
    runs = f"Runs of each {study.run_of}."
    yield _number(StudyOption(name="runs", help=runs, default=study.runs))
    yield from map(_number, study.options)
    yield _parameter("folder", Path, typer.Option(help="Where tables and figures go."), where)
    replace = typer.Option("--force", help="Replace the results of an earlier run.")
    yield _parameter("force", bool, replace, default=False)
    for flag in flags:
        yield _parameter(
            flag.name, bool, typer.Option(f"--{flag.name}", help=flag.help), default=False
        )
        yield from map(_number, flag.options)


def _number(option: StudyOption) -> Parameter:
    shown: Any = option.shown or True
    info = typer.Option(help=option.help, min=option.least, show_default=shown)
    kind = int if option.default is not None else int | None
    return _parameter(option.name, kind, info, option.default)


def _parameter(name: str, kind: Any, info: Any, default: Any) -> Parameter:
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
    )


def _refuse_options_of(other: Study, asked: Study, chosen: dict[str, Any]) -> None:
    for option in other.options:
        if other is not asked and chosen[option.name] != option.default:
            raise PlanError(
                f"Only the {other.name} study takes --{option.name}.",
                advice=f"Leave --{option.name} out, or add --{other.name}.",
            )


def _run(study: Study, chosen: dict[str, Any], runs: int, folder: Path) -> None:
    """Runs a study, saves what it found and prints the headlines."""
    if study.resumable:
        chosen["folder"] = folder
    with _resumable(study, folder), working() as show:
        report = _RUN[study](runs=runs, progress=show, **chosen).value
        show("Saving")
        report.save(folder, prefix=study.prefix)
    for shown in report.headlines:
        table(shown.title, shown.columns, shown.rows)
    for line in (*report.statements, *report.remarks):
        say(line)
    say(f"{runs} runs each. All numbers, tables and figures are in {folder}.")


@contextmanager
def _resumable(study: Study, folder: Path) -> Iterator[None]:
    """Says after Ctrl-C how to continue; a study spends nothing, so no ledger is named."""
    try:
        yield
    except KeyboardInterrupt:
        if not study.resumable:
            raise
        failure(
            "Interrupted.",
            f"Runs that are done are kept in {folder}: the same command goes on from there.",
        )
        raise typer.Exit(1) from None


def _claim_results(folder: Path, results: str, *, force: bool) -> None:
    """Refuses to overwrite results, and makes the folder, before hours of work."""
    if (folder / results).exists() and not force:
        raise PlanError(
            f"{folder} holds the results of an earlier run.",
            advice="Name another folder with --folder, or replace them with --force.",
        )
    make_folder(folder)


for _study in _RUN:
    if _study.of is None:
        _flags = [other for other in _RUN if other.of == _study.name]
        reproduce.command(_study.name, help=_study.help)(_command(_study, _flags))

"""Reproductions: the papers' own experiments on matched synthetic cities."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushway.cli.console import failure, say, table, working
from hushway.errors import PlanError
from hushway.release.folder.new_file import make_folder

if TYPE_CHECKING:
    from hushway.study.study_table import StudyTable

Folder = Annotated[Path, typer.Option(help="Where tables and figures go.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the results of an earlier run.")]

_RESULTS = "numbers.json"

reproduce = typer.Typer(
    help="Repeat the experiments of the papers, beside their published figures.",
    no_args_is_help=True,
)


@reproduce.command()
def cbdp(
    *,
    runs: Annotated[int, typer.Option(help="Runs of each mechanism and budget.", min=1)] = 50,
    folder: Annotated[Path, typer.Option(help="Where tables and figure go.")] = Path(
        "reproduce-cbdp"
    ),
    force: Force = False,
    odmts: Annotated[
        bool,
        typer.Option(
            "--odmts",
            help="Size and operate a transit system by the tables instead: table 1 and "
            "figure 5(c, d). 50 runs take about an hour on two cores; if interrupted, the same "
            "command goes on.",
        ),
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option(help="Processes of --odmts.", min=1, show_default="one for each core"),
    ] = None,
) -> None:
    """OD tables: table 2 and figure 5 of constraint-based differential privacy (AAMAS 2018)."""
    _claim_results(folder, "odmts-numbers.json" if odmts else _RESULTS, force=force)
    if odmts:
        _cbdp_odmts(runs=runs, folder=folder, processes=processes)
    elif processes is not None:
        raise PlanError(
            "Only the transit study runs in several processes.",
            advice="Leave --processes out, or add --odmts.",
        )
    else:
        _cbdp_tables(runs=runs, folder=folder)


def _cbdp_tables(*, runs: int, folder: Path) -> None:
    from hushway.families.od.study.reproduce import reproduce_cbdp
    from hushway.families.od.study.save import headline_tables, ordering, save_reproduction

    with working() as show:
        found = reproduce_cbdp(runs=runs, progress=show)
        show("Saving")
        save_reproduction(found, folder)
    lines = [
        f"O5 < O4 < O3 < Laplace < H {verdict} ({where})."
        for where, verdict in ordering(found.value).items()
    ]
    _report(headline_tables(found.value), lines, runs=runs, folder=folder)


def _cbdp_odmts(*, runs: int, folder: Path, processes: int | None) -> None:
    from hushway.transit.study.reproduce import reproduce_odmts
    from hushway.transit.study.save import headline_tables, save_odmts, statements

    with _resumable(folder), working() as show:
        found = reproduce_odmts(folder, runs=runs, processes=processes, progress=show)
        show("Saving")
        save_odmts(found, folder)
    _report(headline_tables(found.value), statements(found.value), runs=runs, folder=folder)


@contextmanager
def _resumable(folder: Path) -> Iterator[None]:
    """Says after Ctrl-C how to go on; a study spends nothing, so no ledger is spoken of."""
    try:
        yield
    except KeyboardInterrupt:
        failure(
            "Interrupted.",
            f"Runs that are done are kept in {folder}: the same command goes on from there.",
        )
        raise typer.Exit(1) from None


@reproduce.command("prefix-tree")
def prefix_tree(
    *,
    runs: Annotated[int, typer.Option(help="Runs of each method and setting.", min=1)] = 3,
    folder: Folder = Path("reproduce-prefix-tree"),
    force: Force = False,
) -> None:
    """Card sequences: tables 3 to 5 and figures 3 to 5 of the prefix-tree paper (KDD 2012)."""
    _claim_results(folder, _RESULTS, force=force)
    from hushway.families.sequences.study import save
    from hushway.families.sequences.study.reproduce import reproduce_prefix_tree

    _run(reproduce_prefix_tree, save, runs=runs, folder=folder)


@reproduce.command()
def density(
    *,
    runs: Annotated[int, typer.Option(help="Runs of each method and setting.", min=1)] = 20,
    people: Annotated[int, typer.Option(help="People of the city.", min=1000)] = 1_992_846,
    seed: Annotated[int, typer.Option(help="Chooses the city.", min=0)] = 2014,
    folder: Folder = Path("reproduce-density"),
    force: Force = False,
) -> None:
    """Densities: figures 3 to 11 of the case study of call records in Paris (KDD 2014)."""
    _claim_results(folder, _RESULTS, force=force)
    from hushway.families.density.study import save
    from hushway.families.density.study.reproduce import reproduce_density

    _run(partial(reproduce_density, people=people, seed=seed), save, runs=runs, folder=folder)


@reproduce.command("dp-ani")
def dp_ani(
    *,
    runs: Annotated[int, typer.Option(help="Runs of each method and budget.", min=1)] = 5,
    seed: Annotated[int, typer.Option(help="Chooses the people of the city.", min=0)] = 2019,
    folder: Folder = Path("reproduce-dp-ani"),
    force: Force = False,
) -> None:
    """Road networks: figures 4 to 8 of DP-ANI, attacks on it, and the sound counts beside it."""
    _claim_results(folder, _RESULTS, force=force)
    from hushway.families.links.study import save
    from hushway.families.links.study.reproduce import reproduce_dp_ani

    _run(partial(reproduce_dp_ani, seed=seed), save, runs=runs, folder=folder)


def _run(study: Callable[..., Any], save: ModuleType, *, runs: int, folder: Path) -> None:
    """Runs a study, and saves and reports it by the module that knows how."""
    with working() as show:
        found = study(runs=runs, progress=show)
        show("Saving")
        save.save_reproduction(found, folder)
    _report(
        save.headline_tables(found.value), save.statements(found.value), runs=runs, folder=folder
    )


def _claim_results(folder: Path, results: str, *, force: bool) -> None:
    """Makes sure that nobody's results are lost, before hours go into new ones."""
    if (folder / results).exists() and not force:
        raise PlanError(
            f"{folder} holds the results of an earlier run.",
            advice="Name another folder with --folder, or replace them with --force.",
        )
    # Now, not after hours of work.
    make_folder(folder)


def _report(
    studies: "Iterable[StudyTable]", lines: Iterable[str], *, runs: int, folder: Path
) -> None:
    """Prints what a study found, and where the rest of it is."""
    for study in studies:
        table(study.title, study.columns, study.rows)
    for line in lines:
        say(line)
    say(f"{runs} runs each. All numbers, tables and figures are in {folder}.")

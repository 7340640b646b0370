"""Audits that try to break the promise."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushway.audit.runs import FEWEST_RUNS, NEEDED_RUNS, QUICK_RUNS, USUAL_RUNS, runs_asked
from hushway.cli.screen import AsJson, answer_json, notice, say, table, working
from hushway.errors import AuditError
from hushway.families.registry import family_names

if TYPE_CHECKING:
    from hushway.audit.harness import Finding, MutantFinding
    from hushway.audit.suite import Paces, Suite

_RUNS = (
    f"Runs of each end-to-end audit: at least {NEEDED_RUNS:,}, and {USUAL_RUNS:,} unless said; "
    f"with --quick at least {FEWEST_RUNS:,}, and {QUICK_RUNS:,} unless said."
)


def audit(
    family: Annotated[str, typer.Argument(help=f"The release type to audit: {family_names()}.")],
    *,
    runs: Annotated[int | None, typer.Option(help=_RUNS, show_default=False)] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer runs, which find less and say how much.")
    ] = False,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Also plant known bugs, which must be caught.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run black-box privacy audits against the real code; fail if any finds too much loss."""
    from hushway.audit.power import power_in_words
    from hushway.audit.suite import EPSILONS
    from hushway.families.registry import suite_of

    _refuse_quick_hunts(quick=quick, mutants=mutants)
    suite, number = suite_of(family), runs_asked(runs, quick=quick)
    paces = _announced(suite, number, quick=quick, mutants=mutants)
    with working() as show:
        findings = suite.audit(runs=number, quick=quick, paces=paces, progress=show)
        caught = suite.hunt(runs=number, paces=paces, progress=show) if mutants else []
    sound = all(f.passed for f in findings) and all(m.caught for m in caught)
    power = power_in_words(number, EPSILONS)
    if as_json:
        answer_json(
            {
                "sound": sound,
                "quick": quick,
                "power": power,
                "findings": [vars(finding) for finding in findings],
                "mutants": [vars(mutant) for mutant in caught],
            }
        )
    else:
        _show(family, findings, caught)
        say("No audit found more loss than was claimed." if sound else "THE PROMISE IS BROKEN.")
        say(power)
        if quick:
            say("This was a quick audit: to see more noise than a claim needs takes more runs.")
    if not sound:
        raise typer.Exit(1)


def _refuse_quick_hunts(*, quick: bool, mutants: bool) -> None:
    if quick and mutants:
        raise AuditError(
            "A quick audit may miss planted bugs, which must all be caught.",
            advice="Leave out --quick or --mutants.",
        )


def _announced(suite: "Suite[Any]", runs: int, *, quick: bool, mutants: bool) -> "Paces":
    """Says how long it will take, and returns how long each audit does."""
    from hushway.audit.pace import in_words

    with working() as show:
        paces = suite.paces(runs=runs, quick=quick, progress=show)
    words = in_words(suite.seconds(paces, runs=runs, mutants=mutants))
    sooner = in_words(suite.seconds(paces, runs=QUICK_RUNS))
    notice(
        f"{runs:,} runs of each audit take {words} on this machine, as busy as it is now."
        + ("" if quick else f" With --quick they take {sooner} and find less.")
    )
    return paces


def _show(family: str, findings: Sequence["Finding"], caught: Sequence["MutantFinding"]) -> None:
    rows = [
        [
            "passed" if f.passed else "FAILED",
            f.name,
            f"{f.epsilon_lower:.3f}",
            f"{f.epsilon:.3f}",
            f.event if f.passed else f.reason,
        ]
        for f in findings
    ]
    table(f"Audits of {family}", ["", "audit", "#at least", "#claimed ε", "event"], rows)
    if caught:
        rows = [
            ["caught" if m.caught else "MISSED", m.name, f"{m.epsilon:g}", m.by] for m in caught
        ]
        table("Planted bugs", ["", "bug", "#claimed ε", "caught by"], rows)

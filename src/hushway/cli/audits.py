"""Audits: try to catch the product breaking its promise."""

from typing import Annotated

import typer

from hushway.cli.screen import AsJson, answer_json, say, table, working
from hushway.families.registry import family_names


def audit(
    family: Annotated[str, typer.Argument(help=f"The family to audit: {family_names()}.")],
    *,
    runs: Annotated[int, typer.Option(help="Runs of each end-to-end audit.", min=1000)] = 100_000,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Also plant known bugs, which must be caught.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run black-box privacy audits against the real code; fail if any finds too much loss."""
    from hushway.families.registry import suite_of

    suite = suite_of(family)
    with working() as show:
        findings = suite.audit(runs=runs, progress=show)
        caught = suite.hunt(runs=runs, progress=show) if mutants else []
    sound = all(f.passed for f in findings) and all(m.caught for m in caught)
    if as_json:
        answer_json(
            {
                "sound": sound,
                "findings": [vars(finding) for finding in findings],
                "mutants": [vars(mutant) for mutant in caught],
            }
        )
    else:
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
        if mutants:
            rows = [
                ["caught" if m.caught else "MISSED", m.name, f"{m.epsilon:g}", m.by] for m in caught
            ]
            table("Planted bugs", ["", "bug", "#claimed ε", "caught by"], rows)
        say("No audit found more loss than was claimed." if sound else "THE PROMISE IS BROKEN.")
    if not sound:
        raise typer.Exit(1)

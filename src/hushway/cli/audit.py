"""The command `audit`: black-box attacks on what a release type claims."""

from typing import TYPE_CHECKING, Annotated

import typer

from hushway.auditing.runs import FEWEST_RUNS, NEEDED_RUNS, QUICK_RUNS, USUAL_RUNS
from hushway.cli.console import AsJson, answer_json, notice, say, table, working
from hushway.families.registry import family_names

if TYPE_CHECKING:
    from hushway.steward.audit import AuditReport

_RUNS = (
    f"Runs of each end-to-end audit: at least {NEEDED_RUNS:,}, {USUAL_RUNS:,} by default; "
    f"with --quick at least {FEWEST_RUNS:,}, {QUICK_RUNS:,} by default."
)


def audit(
    release_type: Annotated[
        str, typer.Argument(metavar="FAMILY", help=f"The release type to audit: {family_names()}.")
    ],
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
    from hushway.steward.audit import audit as audit_claims
    from hushway.steward.facts import audit_facts

    with working() as show:
        report = audit_claims(
            release_type, runs=runs, quick=quick, mutants=mutants, progress=show, announce=notice
        )
    if as_json:
        answer_json(audit_facts(report))
    else:
        _show(release_type, report)
        say(
            "No audit found more loss than was claimed."
            if report.sound
            else "THE PROMISE IS BROKEN."
        )
        say(report.power)
        if quick:
            say("This was a quick audit: to see more noise than a claim needs takes more runs.")
    if not report.sound:
        raise typer.Exit(1)


def _show(release_type: str, report: "AuditReport") -> None:
    rows = [
        [
            "passed" if f.passed else "FAILED",
            f.name,
            f"{f.epsilon_lower:.3f}",
            f"{f.epsilon:.3f}",
            f.event if f.passed else f.reason,
        ]
        for f in report.findings
    ]
    table(f"Audits of {release_type}", ["", "audit", "#at least", "#claimed ε", "event"], rows)
    if report.mutants:
        rows = [
            ["caught" if m.caught else "MISSED", m.name, f"{m.epsilon:g}", m.by]
            for m in report.mutants
        ]
        table("Planted bugs", ["", "bug", "#claimed ε", "caught by"], rows)

"""See for yourself: everything once on a synthetic city, and audits that try to break it."""

from pathlib import Path
from typing import Annotated

import typer

from hushway.cli.evaluate import Task, evaluate
from hushway.cli.ledger import show
from hushway.cli.plans import check, publish
from hushway.cli.price import price
from hushway.cli.releases import verify
from hushway.cli.screen import AsJson, answer_json, say, step, table, working
from hushway.families.registry import family_names


def demo(
    folder: Annotated[Path, typer.Argument(help="A new folder for the demo.")] = Path("demo"),
    *,
    force: Annotated[bool, typer.Option("--force", help="Throw an earlier demo away.")] = False,
) -> None:
    """Build synthetic cities, then check, price, publish, verify and judge releases of them."""
    from hushway.warming.background import Compiling, usual_rehearsals

    # All release types at once, from the beginning: by the time that one is published, its machine
    # code is there.
    with Compiling(usual_rehearsals()):
        _show_everything(folder, force=force)


def _show_everything(folder: Path, *, force: bool) -> None:
    from hushway.demo import BUDGET_LIMIT, PLAN, DemoCity, build_demo, build_others
    from hushway.release.papers import PICTURE

    def introduce(position: int, city: DemoCity) -> None:
        delta = city.job.plan.privacy.delta
        step(position, city.example.title)
        say(
            f"{city.example.rows} in {city.folder}, and an account of ε {BUDGET_LIMIT}"
            f"{'' if delta is None else f' (δ {float(delta):.0e})'}."
        )

    city = build_demo(folder, force=force)
    introduce(1, city)
    plan, release = folder / PLAN, city.release
    step(2, f"hushway check {plan}")
    check(plan)
    step(3, f"hushway price {plan}")
    price(plan)
    step(4, f"hushway publish {plan} --yes")
    publish(plan, yes=True)
    step(5, f"hushway verify {release}")
    verify(release)
    step(6, f"hushway ledger show {plan} --check")
    show(str(plan), check=True)
    network, picture = folder / "network.toml", folder / "fleet.png"
    step(
        7,
        f"hushway evaluate {release} --task fleet --network {network} --plan {plan} --draws 3 ...",
    )
    evaluate(
        release,
        task=Task.FLEET,
        network=network,
        plan=plan,
        hours="08:00-10:00",
        draws=3,
        picture=picture,
    )
    cities = [city]
    for other in build_others(folder):
        introduce(7 + len(cities), other)
        publish(other.folder / PLAN, yes=True)
        verify(other.release)
        cities.append(other)
    step(7 + len(cities), "Where everything is")
    for made in cities:
        say(f"The release of {made.job.wording.counted}: {made.release}")
        say(f"  its picture:      {made.release / PICTURE}")
        say(f"  its certificate:  {made.release / 'certificate.html'}")
        say(f"  its plan:         {made.folder / PLAN}")


def audit(
    family: Annotated[str, typer.Argument(help=f"The release type to audit: {family_names()}.")],
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

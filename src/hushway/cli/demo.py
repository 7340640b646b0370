"""The first five minutes: everything once, on a synthetic city."""

from pathlib import Path
from typing import Annotated

import typer

from hushway.cli.evaluate import Task, evaluate
from hushway.cli.ledger import show
from hushway.cli.plans import check, price, publish
from hushway.cli.releases import verify
from hushway.cli.screen import say, step


def demo(
    folder: Annotated[Path, typer.Argument(help="A new folder for the demo.")] = Path("demo"),
    *,
    force: Annotated[bool, typer.Option("--force", help="Throw an earlier demo away.")] = False,
) -> None:
    """Build synthetic cities, then check, price, publish, verify and judge releases of them."""
    from hushway.demo import CAP, PLAN, build_calls, build_cards, build_demo
    from hushway.release.package import PICTURE

    step(1, "A synthetic city, with the published figures of Ann Arbor")
    city = build_demo(folder, force=force)
    say(f"{city.trips:,} trips of {city.riders:,} riders in {folder}, and an account of ε {CAP}.")
    plan = folder / PLAN
    step(2, f"hushway check {plan}")
    check(plan)
    step(3, f"hushway price {plan}")
    price(plan)
    step(4, f"hushway publish {plan}")
    publish(plan)
    release = city.job.plan.path(city.job.plan.release.folder)
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
    step(8, "Journeys by card: a synthetic metro")
    cards = build_cards(folder / "cards")
    say(f"{cards.records:,} cards in {cards.folder}, and an account of ε {CAP}.")
    publish(cards.folder / PLAN)
    journeys = cards.job.plan.path(cards.job.plan.release.folder)
    verify(journeys)
    step(9, "Where people are by the hour: a small synthetic Paris")
    calls = build_calls(folder / "calls")
    say(
        f"{calls.events:,} calls of {calls.people:,} people in {calls.folder}, and an account of "
        f"ε {CAP} (δ {float(calls.job.plan.privacy.delta or 0):.0e})."
    )
    publish(calls.folder / PLAN)
    visits = calls.job.plan.path(calls.job.plan.release.folder)
    verify(visits)
    step(10, "Where everything is")
    for name, made in (("trips", release), ("journeys", journeys), ("visits", visits)):
        say(f"The release of {name}: {made}")
        say(f"  its picture:      {made / PICTURE}")
        say(f"  its certificate:  {made / 'certificate.html'}")
        say(f"  its plan:         {made.parent / PLAN}")

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
    from hushway.demo import CAP, PLAN, DemoCity, build_demo, build_others
    from hushway.release.package import PICTURE

    def introduce(position: int, city: DemoCity) -> None:
        delta = city.job.plan.privacy.delta
        step(position, city.example.title)
        say(
            f"{city.example.rows} in {city.folder}, and an account of ε {CAP}"
            f"{'' if delta is None else f' (δ {float(delta):.0e})'}."
        )

    city = build_demo(folder, force=force)
    introduce(1, city)
    plan, release = folder / PLAN, city.release
    step(2, f"hushway check {plan}")
    check(plan)
    step(3, f"hushway price {plan}")
    price(plan)
    step(4, f"hushway publish {plan}")
    publish(plan)
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
        publish(other.folder / PLAN)
        verify(other.release)
        cities.append(other)
    step(7 + len(cities), "Where everything is")
    for made in cities:
        say(f"The release of {made.job.wording.counted}: {made.release}")
        say(f"  its picture:      {made.release / PICTURE}")
        say(f"  its certificate:  {made.release / 'certificate.html'}")
        say(f"  its plan:         {made.folder / PLAN}")

"""The command `demo`: everything once on synthetic cities."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushway.cli.console import say, step
from hushway.cli.ledger import show
from hushway.cli.plans import check, publish
from hushway.cli.price import price
from hushway.cli.releases import verify

if TYPE_CHECKING:
    from hushway.steward.demo import DemoCity


def demo(
    folder: Annotated[Path, typer.Argument(help="A new folder for the demo.")] = Path("demo"),
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier demo.")] = False,
) -> None:
    """Build synthetic cities, then check, price, publish and verify releases of them."""
    from hushway.release.documents.papers import PICTURE
    from hushway.steward.demo import demo as build_and_publish

    shown: list[DemoCity] = []

    def show_city(city: "DemoCity") -> None:
        if shown:
            _introduce(6 + len(shown), city)
            publish(city.plan, yes=True)
            verify(city.release)
        else:
            _show_first(city)
        shown.append(city)

    cities = build_and_publish(folder, force=force, show=show_city)
    step(6 + len(cities), "Where everything is")
    for made in cities:
        say(f"The release of {made.job.wording.counted}: {made.release}")
        say(f"  its picture:      {made.release / PICTURE}")
        say(f"  its certificate:  {made.release / 'certificate.html'}")
        say(f"  its plan:         {made.plan}")
    say(
        "Go on with the fleet that a city would buy for the first: hushway evaluate "
        f"{cities[0].release} --task fleet --network {folder / 'network.toml'} --plan "
        f"{cities[0].plan} --hours 08:00-10:00 --draws 3 --picture {folder / 'fleet.png'}"
    )
    say(how_to_open(folder))


def how_to_open(folder: Path) -> str:
    """Says how to see plans and releases of a folder in a browser."""
    from hushway.workbench.serve import missing_libraries

    missing = missing_libraries()
    first = "pip install 'hushway[serve]', then " if missing else ""
    return f"See plans, prices, maps and ledgers in a browser: {first}hushway serve {folder}"


def _show_first(city: "DemoCity") -> None:
    plan = city.plan
    _introduce(1, city)
    step(2, f"hushway check {plan}")
    check(plan)
    step(3, f"hushway price {plan}")
    price(plan)
    step(4, f"hushway publish {plan} --yes")
    publish(plan, yes=True)
    step(5, f"hushway verify {city.release}")
    verify(city.release)
    step(6, f"hushway ledger show {plan} --check")
    show(str(plan), check=True)


def _introduce(position: int, city: "DemoCity") -> None:
    from hushway.release.wording import budget_text
    from hushway.steward.demo import BUDGET_LIMIT

    delta = city.job.plan.privacy.delta
    step(position, city.example.title)
    say(
        f"{city.example.rows} in {city.folder}, and an account of "
        f"{budget_text(BUDGET_LIMIT, delta)}."
    )

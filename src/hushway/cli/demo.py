"""See for yourself: everything once on a synthetic city."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushway.cli.ledger import show
from hushway.cli.plans import check, publish
from hushway.cli.price import price
from hushway.cli.releases import verify
from hushway.cli.screen import say, step
from hushway.cli.serve import missing_libraries

if TYPE_CHECKING:
    from hushway.demo import DemoCity


def demo(
    folder: Annotated[Path, typer.Argument(help="A new folder for the demo.")] = Path("demo"),
    *,
    force: Annotated[bool, typer.Option("--force", help="Throw an earlier demo away.")] = False,
) -> None:
    """Build synthetic cities, then check, price, publish and verify releases of them."""
    from hushway.warming.background import Compiling, usual_rehearsals

    # All release types at once, from the beginning: by the time that one is published, its machine
    # code is there.
    with Compiling(usual_rehearsals()):
        _show_everything(folder, force=force)


def _show_everything(folder: Path, *, force: bool) -> None:
    from hushway.demo import OtherCities, clear
    from hushway.release.documents.papers import PICTURE

    clear(folder, force=force)
    with OtherCities(folder) as others:
        cities = [_show_first(folder)]
        for other in others:
            _introduce(6 + len(cities), other)
            publish(other.plan, yes=True)
            verify(other.release)
            cities.append(other)
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
    missing = missing_libraries()
    first = "pip install 'hushway[serve]', then " if missing else ""
    return f"See plans, prices, maps and ledgers in a browser: {first}hushway serve {folder}"


def _show_first(folder: Path) -> "DemoCity":
    from hushway.demo import FIRST, build_city

    city = build_city(FIRST, folder)
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
    return city


def _introduce(position: int, city: "DemoCity") -> None:
    from hushway.demo import BUDGET_LIMIT
    from hushway.release.wording import budget_text

    delta = city.job.plan.privacy.delta
    step(position, city.example.title)
    say(
        f"{city.example.rows} in {city.folder}, and an account of "
        f"{budget_text(BUDGET_LIMIT, delta)}."
    )

"""Examples at the end of every `--help`, by the words of the command."""

from typing import Final

import typer

EXAMPLES: Final[dict[str, tuple[str, ...]]] = {
    "": ("hushway demo", "hushway init trips.csv", "hushway price plan.toml"),
    "demo": ("hushway demo", "hushway demo my-demo --force"),
    "init": (
        "hushway init trips.csv",
        "hushway init taps.parquet --type sequences --person card --zone Europe/Lisbon --yes",
    ),
    "check": ("hushway check plan.toml", "hushway check plan.toml --json"),
    "price": (
        "hushway price plan.toml --trips 40000 --people 15000",
        "hushway price plan.toml --epsilon .25,.5,1,2 --picture errors.png",
        'hushway price plan.toml --within "origins=5%" --trips 40000',
    ),
    "recommend": ("hushway recommend plan.toml --trips 40000 --people 15000",),
    "publish": ("hushway publish plan.toml", "hushway publish plan.toml --dry-run"),
    "verify": (
        "hushway verify release",
        "hushway verify release --key steward.pub.pem --ledger plan.toml",
    ),
    "dossier": ("hushway dossier release --ledger plan.toml --output sign-off.md",),
    "ask": (
        "hushway ask release --where origins=A,B --where periods=08:00",
        "hushway ask release --top 10 --by destinations",
        "hushway ask release --where periods=08:00 --over periods=17:00",
        "hushway ask releases --each quarter --where origins=A",
        "hushway ask releases --changes --by origins",
    ),
    "series": ("hushway series releases", "hushway series releases --to city-2026"),
    "serve": ("hushway serve", "hushway serve plan.toml", "hushway serve demo --port 8400 --open"),
    "site": (
        "hushway site release --to site",
        "hushway site release-march release-april --one-file report.html",
    ),
    "revise": ("hushway revise releases/2026-01 --series releases --to revised/2026-01",),
    "compare": (
        "hushway compare release-march release-april",
        "hushway compare release --truth plan.toml",
    ),
    "synthesize": (
        "hushway synthesize release trips.csv --seed 7",
        "hushway synthesize release plans.xml.gz --mode transit",
    ),
    "synthesise": ("hushway synthesise release trips.csv --seed 7",),
    "design": ("hushway design release network.toml --hours 08:00-10:00",),
    "evaluate": (
        "hushway evaluate release --task fleet --plan plan.toml",
        "hushway evaluate release --task fleet --network network.toml --picture fleet.png",
        "hushway evaluate release --task traffic --network roads.osm.pbf --to volumes.csv",
    ),
    "warm": ("hushway warm", "hushway warm od links"),
    "audit": ("hushway audit od --quick", "hushway audit od --mutants"),
    "plan": ("hushway plan new od > plan.toml",),
    "plan new": ("hushway plan new od > plan.toml",),
    "plan schema": ("hushway plan schema od > od.schema.json",),
    "ledger": ("hushway ledger open plan.toml --epsilon 4", "hushway ledger show plan.toml"),
    "ledger open": (
        "hushway ledger open plan.toml --epsilon 4",
        "hushway ledger open plan.toml --epsilon 4 --delta 1e-6",
    ),
    "ledger show": (
        "hushway ledger show plan.toml --check",
        "HUSHWAY_LEDGER=ledger.db hushway ledger show --people",
    ),
    "ledger people": ("hushway ledger people ledger.db riders trips taps",),
    "ledger backup": ("hushway ledger backup ledger.db copy.db",),
    "ledger settle": ("hushway ledger settle plan.toml",),
    "ledger export": ("hushway ledger export ledger.db --output spent.csv",),
    "keys": ("hushway keys new steward",),
    "keys new": ("hushway keys new steward --passphrase",),
    "keys passphrase": ("hushway keys passphrase steward.pem",),
    "reproduce": ("hushway reproduce cbdp --runs 5",),
    "reproduce cbdp": ("hushway reproduce cbdp --runs 5", "hushway reproduce cbdp --odmts"),
    "reproduce prefix-tree": ("hushway reproduce prefix-tree --runs 1",),
    "reproduce density": ("hushway reproduce density --runs 2 --people 100000",),
    "reproduce dp-ani": ("hushway reproduce dp-ani --runs 2",),
}


def add_examples(app: typer.Typer, above: str = "") -> None:
    """Puts examples at the end of the help of every command below an application."""
    for command in app.registered_commands:
        own = command.name or getattr(command.callback, "__name__", "").replace("_", "-")
        command.epilog = _epilog(f"{above} {own}".strip())
    for group in app.registered_groups:
        name = f"{above} {group.name}".strip()
        group.epilog = _epilog(name)
        if group.typer_instance is not None:
            add_examples(group.typer_instance, name)
    if not above:
        app.info.epilog = _epilog("")


def _epilog(command: str) -> str | None:
    examples = EXAMPLES.get(command)
    # An empty line between them: single ends of lines are joined.
    return None if examples is None else "\n\n".join(("Examples:", *examples))

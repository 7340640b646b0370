"""Sites of little releases, and a server that hosts them as any web server would."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from hushway.families.load import plan_from, prepare
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.privacy.randomness import SeededSource
from hushway.steward.publish import publish
from support.little_plans import little_plan, write_little_files


def little_release(
    folder: Path,
    family: str,
    *,
    seed: int | None,
    mechanism: str | None = None,
    **release: Any,
) -> Path:
    """Publishes the little plan of a family.

    Args:
        folder: Where.
        family: Which.
        seed: By which the noise is always the same, and the release is stamped; None protects.
        mechanism: Another mechanism than that of the little plan, with its own defaults.
        release: Words of the plan about the release.
    """
    folder.mkdir()
    write_little_files(folder)
    plan = little_plan(family)
    plan["release"] |= release
    if mechanism is not None:
        plan["mechanism"] = {"name": mechanism}
    job = prepare(plan_from(plan, folder=folder))
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.ZCDP, Fraction(1000)))
    return publish(job, anyway=True, source=None if seed is None else SeededSource(seed)).folder


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Says nothing: a test that fails says enough."""


@contextmanager
def hosted(folder: Path) -> Iterator[str]:
    """Hosts a folder on this machine; gives the address of its first page."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/index.html"
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


def change_atlas(site: Path, slug: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes what a site says about a release, as somebody who means harm would."""
    file = site / "releases" / slug / "atlas.json"
    facts = json.loads(file.read_text(encoding="utf-8"))
    change(facts)
    file.write_text(json.dumps(facts), encoding="utf-8")

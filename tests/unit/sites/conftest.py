"""A little release, and pages that stand in for the built ones."""

import shutil
from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import pytest

from hushway.families.load import plan_from, prepare
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.release.folder.seal import SEAL
from hushway.sites.releases import SiteRelease
from hushway.steward.publish import publish
from support.little_plans import little_plan, write_little_files

PAGE = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <link rel="icon" href="data:," />
    <script type="module" crossorigin src="./assets/reader.js"></script>
    <link rel="stylesheet" crossorigin href="./assets/reader.css">
  </head>
  <body><div id="app"></div></body>
</html>
"""
SCRIPT = "document.title = 'a < b \\\\ é';\n"
STYLE = "body { color: green }\n"

Take = Callable[..., SiteRelease]


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A private release that nobody touches."""
    folder = tmp_path_factory.mktemp("little")
    write_little_files(folder)
    plan = little_plan("od") | {"mechanism": {"name": "laplace", "form": "dense"}}
    job = prepare(plan_from(plan, folder=folder))
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.ZCDP, Fraction(1000)))
    return publish(job).folder


@pytest.fixture
def release(published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(published, tmp_path / "release"))


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle"
    (folder / "assets").mkdir(parents=True)
    (folder / "reader.html").write_text(PAGE, encoding="utf-8")
    (folder / "assets" / "reader.js").write_text(SCRIPT, encoding="utf-8")
    (folder / "assets" / "reader.css").write_text(STYLE, encoding="utf-8")
    (folder / "assets" / "steward.js").write_text("fetch('/api/state')", encoding="utf-8")
    return folder


@pytest.fixture
def take(release: Path, tmp_path: Path) -> Take:
    """Makes a release that was taken in, without asking another process."""

    def make(slug: str = "one", atlas: bytes = b'{"a":"b"}\n', **changes: str) -> SiteRelease:
        drawn = tmp_path / f"drawn-{slug}"
        drawn.mkdir()
        (drawn / "atlas.json").write_bytes(atlas)
        (drawn / "columns.bin").write_bytes(b"\x00\xff" * 8)
        facts = {"title": "One", "release_type": "od", "period": "2 March 2026"} | changes
        seal = sha256((release / SEAL).read_bytes()).hexdigest()
        return SiteRelease(folder=release, slug=slug, stamp=None, seal=seal, drawn=drawn, **facts)

    return make

"""Pages in a real browser: size, time to ready, frame times, and the memory of the server.

Atlases are made up: a city with many flows, and one with many road links, as any release would be
written. A frame is the time from one picture on the screen to the next while the map is panned
(keys) and zoomed (wheel), in Chromium without a graphics card. A redraw is how long the map takes
until it is sharp again after it rests; its longest frame says how long it did not answer meanwhile.
"""

import gzip
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Page, expect, sync_playwright

from hushway.release.drawing.reader_page import hosted_files
from hushway.web import bundle

# Frames while moving, in milliseconds: half of them are to take less. More than 30 a second.
BARS = {"frame, median": 33.3}
_FRAMES = 90
_PLACES = 500
# The server starts its readers' process, which loads what it needs.
_SETTLING_S = 10
_KINDS = {"5,000 flows": 5_000, "100,000 flows": 100_000, "130,000 links": 130_000}
# Lets a page be moved a little before each frame, and notes when frames come.
_MOVE = """
([how, frames]) => new Promise((done) => {
  const map = document.querySelector("[data-testid=map]");
  const box = map.getBoundingClientRect();
  const times = [];
  const step = (now) => {
    times.push(now);
    if (times.length > frames) return done(times.slice(1).map((time, i) => time - times[i]));
    const turn = Math.floor(times.length / 15) % 2;
    if (how === "pan") {
      const key = turn ? "ArrowLeft" : "ArrowRight";
      map.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    } else {
      map.dispatchEvent(new WheelEvent("wheel", {
        deltaY: turn ? 40 : -40, clientX: box.x + box.width / 2, clientY: box.y + box.height / 2,
        bubbles: true, cancelable: true,
      }));
    }
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})
"""
# Waits until the map is sharp again, and notes the longest frame on the way.
_REST = """
() => new Promise((done) => {
  const map = document.querySelector("[data-testid=map]");
  const began = performance.now();
  let before = began, longest = 0;
  const step = (now) => {
    longest = Math.max(longest, now - before);
    before = now;
    if (map.dataset.state === "drawn") return done([performance.now() - began, longest]);
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})
"""


def main() -> dict[str, float]:
    measured = _sizes()
    with tempfile.TemporaryDirectory() as name:
        site = Path(name)
        _write_site(site)
        with _hosted(site) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
            for kind in _KINDS:
                with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
                    figures = _watched(context.new_page(), f"{address}#{_slug(kind)}")
                    measured |= {f"{kind}: {what}": value for what, value in figures.items()}
            browser.close()
    measured |= _server_memory()
    for what, value in measured.items():
        bar = next((bar for name, bar in BARS.items() if what.endswith(name)), None)
        print(f"{what:44} {value:10.1f}" + ("" if bar is None else f"   bar {bar}"))
    return measured


def _sizes() -> dict[str, float]:
    """Kilobytes of each page with what it loads, as they are and as they travel."""
    measured = {}
    for page in ("reader", "steward"):
        files = [(bundle() / f"{page}.html").read_bytes()]
        files += [(bundle() / "assets" / f"{page}.{kind}").read_bytes() for kind in ("js", "css")]
        measured[f"{page}, kB"] = sum(map(len, files)) / 1e3
        measured[f"{page}, kB gzipped"] = sum(len(gzip.compress(file, 9)) for file in files) / 1e3
    return measured


def _watched(page: Page, address: str) -> dict[str, float]:
    page.goto(address)
    drawn = page.get_by_test_id("map")
    expect(drawn).to_have_attribute("data-state", "drawn", timeout=120_000)
    ready: float = page.evaluate("() => performance.now()")
    measured = {"ready, ms": ready}
    for how in ("pan", "zoom"):
        frames: list[float] = page.evaluate(_MOVE, [how, _FRAMES])
        redraw, longest = page.evaluate(_REST)
        measured |= {
            f"{how}, ms a frame, median": statistics.median(frames),
            f"{how}, ms a frame, 95%": float(np.quantile(frames, 0.95)),
            f"{how}, ms a frame, longest": max(frames),
            f"redraw after {how}, ms": redraw,
            f"redraw after {how}, longest frame": longest,
        }
    return measured


def _slug(kind: str) -> str:
    return re.sub("[^a-z0-9]+", "-", kind)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@contextmanager
def _hosted(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()


class _Columns:
    """Columns that follow each other, as an atlas has them."""

    def __init__(self) -> None:
        self.data = bytearray()

    def add(self, kind: str, values: NDArray[Any]) -> dict[str, Any]:
        at = len(self.data)
        self.data += values.astype(f"<{kind}").tobytes()
        self.data += bytes(-len(self.data) % 8)
        return {"type": kind, "at": at, "length": len(values)}


def _write_site(site: Path) -> None:
    for name, data in hosted_files(bundle()):
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_bytes(data)
    listed = []
    for kind, size in _KINDS.items():
        columns = _Columns()
        atlas = (_flows if "flows" in kind else _links)(columns, size)
        place = site / "releases" / _slug(kind)
        place.mkdir(parents=True)
        (place / "atlas.json").write_text(json.dumps(atlas))
        (place / "columns.bin").write_bytes(columns.data)
        release_type = atlas["release_type"]
        listed.append(
            {"slug": _slug(kind), "title": kind, "release_type": release_type, "period": ""}
        )
    facts = {"format": "hushway-site", "version": 1, "releases": listed}
    (site / "site.json").write_text(json.dumps(facts))


def _common(columns: _Columns, release_type: str, places: int) -> dict[str, Any]:
    draw = np.random.default_rng(1)
    return {
        "format": "hushway-atlas",
        "version": 1,
        "id": "made-up",
        "title": "Made up",
        "release_type": release_type,
        "layer": {"od": "flows", "links": "links"}[release_type],
        "counted_sentence": "Made up.",
        "guarantee": "Nobody is in it.",
        "claim": "none",
        "error": "none",
        "counted": "trips",
        "digest": "0",
        "bounds": [-8.75, 41.05, -8.45, 41.25],
        "periods": [{"label": "all day", "group": None}],
        "places": {
            "ids": [str(i) for i in range(places)],
            "names": [f"Place {i}" for i in range(places)],
            "lon": columns.add("f8", draw.normal(-8.6, 0.04, places)),
            "lat": columns.add("f8", draw.normal(41.15, 0.03, places)),
            "shapes": None,
        },
        "notes": [],
        "downloads": [],
    }


def _flows(columns: _Columns, size: int) -> dict[str, Any]:
    """Flows as cities have them: few are large, and most of the small ones are uncertain."""
    draw = np.random.default_rng(2)
    pairs = draw.choice(_PLACES * _PLACES, size, replace=False)
    return _common(columns, "od", _PLACES) | {
        "flows": {
            "origin": columns.add("u4", pairs // _PLACES),
            "destination": columns.add("u4", pairs % _PLACES),
            "count": columns.add("f4", np.ceil(draw.pareto(1.2, size) * 3)),
            "error": columns.add("f4", np.full(size, 3.0)),
            "starts": columns.add("u4", np.array([0, size])),
            "meaning": "Trips from one place to another.",
        }
    }


def _links(columns: _Columns, size: int) -> dict[str, Any]:
    """A grid of streets, bent a little, four points each; four fifths of them have a count."""
    draw = np.random.default_rng(3)
    side = int(np.sqrt(size / 2)) + 1
    row, column = np.divmod(np.arange(size) // 2, side)
    along = np.linspace(0, 1, 4)
    east = (np.arange(size) % 2 == 0)[:, None]
    step = 0.28 / side
    lon = -8.74 + step * (column[:, None] + np.where(east, along, 0))
    lat = 41.06 + 0.6 * step * (row[:, None] + np.where(east, 0, along))
    counted = np.sort(draw.choice(size, size * 4 // 5, replace=False))
    busy = np.minimum(row, side - row) + np.minimum(column, side - column)
    count = np.ceil(draw.gamma(0.6, 40, len(counted)) * (1 + busy[counted] / side))
    return _common(columns, "links", 0) | {
        "links": {
            "lon": columns.add("f4", (lon + draw.normal(0, step / 12, lon.shape)).ravel()),
            "lat": columns.add("f4", (lat + draw.normal(0, step / 12, lat.shape)).ravel()),
            "starts": columns.add("u4", 4 * np.arange(size + 1)),
            "ids": [str(i) for i in range(size)],
            "names": [f"Street {i // 2 % side}" for i in range(size)],
            "rank": columns.add("u1", np.where((row % 16 == 0) | (column % 16 == 0), 1, 4)),
            "link": columns.add("u4", counted),
            "count": columns.add("f4", count),
            "error": columns.add("f4", np.full(len(counted), 6.0)),
            "row_starts": columns.add("u4", np.array([0, len(counted)])),
            "meaning": "Travellers on a link.",
            "rest": [],
        }
    }


def _server_memory() -> dict[str, float]:
    """Megabytes of the workbench and of its readers' process, at rest."""
    with tempfile.TemporaryDirectory() as folder:
        command = "from hushway.cli.app import main; main()"
        server = subprocess.Popen(
            [sys.executable, "-P", "-c", command, "serve", folder, "--port", "0"],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            for line in server.stdout or ():
                if "http" in line:
                    break
            time.sleep(_SETTLING_S)
            children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
            return {
                "server, MB": _resident(server.pid),
                "its readers' process, MB": sum(_resident(int(child)) for child in children),
            }
        finally:
            server.terminate()
            server.wait()


def _resident(process: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return 0.0 if found is None else int(found[1]) / 1e3


if __name__ == "__main__":
    main()

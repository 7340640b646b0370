"""CPU seconds of what a steward waits for, for each release type: with and without machine code.

Cold is the first use on a machine, where everything has to be compiled; warm is any later one. The
synthetic cities are those of `hushway demo`. Seconds are those of all processes of a command.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from hushway.demo import PLAN, build_demo, build_others

# A slip in a plan is told within a second, and help within a third of one.
BARS = {"help": 0.3, "slip": 1.0}
_COMMAND = (sys.executable, "-P", "-c", "from hushway.cli.app import main; main()")


def main() -> dict[str, float]:
    measured = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Cities are built with machine code too: it must not be found by what is measured.
        cities = [city.folder for city in _cities(folder / "cities")]
        measured["help"] = _seconds(folder / "help", "--help")
        for city in cities:
            kind = "od" if city == folder / "cities" else city.name
            measured |= {f"{kind} {what}": seconds for what, seconds in _one(city, folder, kind)}
    for what, seconds in measured.items():
        bar = BARS.get(what.split()[-1])
        print(f"{what:24} {seconds:8.2f} s" + ("" if bar is None else f"   bar {bar} s"))
    return measured


def _cities(folder: Path):  # noqa: ANN202
    yield build_demo(folder)
    yield from build_others(folder)


def _one(city: Path, folder: Path, kind: str):  # noqa: ANN202
    plan, text = city / PLAN, (city / PLAN).read_text("utf-8")
    slip = city / "slip.toml"
    slip.write_text(text.replace('time = "time"', 'time = "tyme"'), encoding="utf-8")
    again = city / "again.toml"
    again.write_text(text.replace('folder = "release"', 'folder = "again"'), encoding="utf-8")
    cache = folder / f"machine code of {kind}"
    yield "slip", _seconds(cache, "check", slip, fails=True)
    for state, file, release in (("cold", plan, "release"), ("warm", again, "again")):
        yield f"check, {state}", _seconds(cache, "check", file)
        yield f"price, {state}", _seconds(cache, "price", file)
        yield f"publish, {state}", _seconds(cache, "publish", file)
        yield f"verify, {state}", _seconds(cache, "verify", city / release)


def _seconds(cache: Path, *words: object, fails: bool = False) -> float:
    """Returns the CPU seconds of a command and all processes that it started."""
    before = os.times()
    done = subprocess.run(
        [*_COMMAND, *map(str, words)],
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    after = os.times()
    if (done.returncode != 0) is not fails:
        raise SystemExit(done.stderr.decode())
    return (
        after.children_user - before.children_user + after.children_system - before.children_system
    )


if __name__ == "__main__":
    main()

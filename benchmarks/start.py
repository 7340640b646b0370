"""CPU seconds of what a steward waits for, for each release type: with and without machine code.

Cold is the first use on a machine, where everything has to be compiled; warm is any later one. The
synthetic cities are those of `hushway demo`. Seconds are those of all processes of a command, so
two release types can be measured side by side. Drawing is what a warm publish takes for its
picture, with loading what draws, as a share of the whole command: at most a tenth is aimed at.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hushway.steward.demo import FIRST, DemoCity, OtherCities, build_demo

# A slip in a plan is told within a second, and help within a third of one.
BARS = {"help": 0.3, "slip": 1.0}
_COMMAND = (sys.executable, "-P", "-c", "from hushway.cli.app import main; main()")
_AT_ONCE = 2
# The command, which says at its end how long its picture took.
_DRAWING = (
    sys.executable,
    "-P",
    "-c",
    """
import atexit, sys, time
import hushway.families.write as write
publishable = write.publishable

def timed(table, certificate):
    contents = publishable(table, certificate)
    draw = type(contents).picture

    def picture(self, certificate):
        before = time.thread_time()
        drawn = draw(self, certificate)
        atexit.register(print, time.thread_time() - before, file=sys.stderr)
        return drawn

    type(contents).picture = picture
    return contents

write.publishable = timed
from hushway.cli.app import main
main()
""",
)
_SHARE = "drawing of that"


def main() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Cities are built with machine code too: it must not be found by what is measured.
        measured = {"help": _seconds(folder / "help", "--help")}
        cities = _cities(folder / "cities")
        kinds = [FIRST if city.folder.name == "cities" else city.folder.name for city in cities]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for kind, figures in zip(
                kinds, pool.map(lambda one: dict(_one(one, folder)), cities), strict=True
            ):
                measured |= {f"{kind} {what}": seconds for what, seconds in figures.items()}
    for what, seconds in measured.items():
        if what.endswith(_SHARE):
            print(f"{what:32} {seconds:6.1%}")
            continue
        bar = BARS.get(what.split()[-1])
        print(f"{what:32} {seconds:6.2f} s" + ("" if bar is None else f"   bar {bar} s"))
    return measured


def _cities(folder: Path) -> list[DemoCity]:
    first = build_demo(folder)
    with OtherCities(folder) as others:
        return [first, *others]


def _one(city: DemoCity, folder: Path) -> Iterator[tuple[str, float]]:
    text = city.plan.read_text("utf-8")
    slip = city.folder / "slip.toml"
    slip.write_text(text.replace("epsilon =", "epsilom ="), encoding="utf-8")
    again = city.folder / "again.toml"
    again.write_text(text.replace('folder = "release"', 'folder = "again"'), encoding="utf-8")
    cache = folder / f"machine code of {city.job.plan.release_type}"
    yield "slip", _seconds(cache, "check", slip, fails=True)
    for state, plan, release in (("cold", city.plan, "release"), ("warm", again, "again")):
        yield f"check, {state}", _seconds(cache, "check", plan)
        yield f"price, {state}", _seconds(cache, "price", plan)
        if state == "cold":
            yield f"publish, {state}", _seconds(cache, "publish", plan, "--yes", "--anyway")
        else:
            whole, said = _measured(cache, "publish", plan, "--yes", "--anyway", command=_DRAWING)
            yield f"publish, {state}", whole
            yield f"publish, {state}, {_SHARE}", float(said.split()[-1]) / whole
        yield f"verify, {state}", _seconds(cache, "verify", city.folder / release)


def _seconds(cache: Path, *words: object, fails: bool = False) -> float:
    """Returns the CPU seconds of a command and all processes that it started."""
    return _measured(cache, *words, fails=fails)[0]


def _measured(
    cache: Path, *words: object, fails: bool = False, command: tuple[str, ...] = _COMMAND
) -> tuple[float, str]:
    """Returns the CPU seconds of a command with its processes, and what it said besides."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [*command, *map(str, words)],
            env={**os.environ, "XDG_CACHE_HOME": str(cache)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        words_said = said.read().decode()
        if (process.returncode != 0) is not fails:
            raise SystemExit(words_said)
    return used.ru_utime + used.ru_stime, words_said


if __name__ == "__main__":
    main()

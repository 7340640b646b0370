"""Python in a process of its own: forks need one, since pytest's may have threads."""

import subprocess
import sys
import textwrap


def output_of(script: str, *arguments: str) -> str:
    """Runs a script to its end and returns what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout

"""Prints what a synthetic city holds as Markdown tables."""

import argparse
import sys
from collections.abc import Callable, Mapping


def facts_table(columns: Mapping[str, Mapping[str, str]]) -> str:
    """Returns a Markdown table with a row for each fact and a column for each mapping of facts."""
    lines = [f"| | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    lines += [
        f"| {fact} | {' | '.join(facts[fact] for facts in columns.values())} |"
        for fact in next(iter(columns.values()))
    ]
    return "\n".join(lines) + "\n"


def matched_table(facts: Mapping[str, tuple[str, str]]) -> str:
    """Returns a Markdown table of published figures and those of the city."""
    return facts_table(
        {
            "published": {fact: published for fact, (published, _) in facts.items()},
            "made": {fact: made for fact, (_, made) in facts.items()},
        }
    )


def print_tables(of: str, tables: Callable[[int], str]) -> None:
    """Prints the tables of the city of a seed, which the command line may give."""
    parser = argparse.ArgumentParser(description=f"Figures of the synthetic {of}.")
    parser.add_argument("--seed", type=int, default=1)
    sys.stdout.write(tables(parser.parse_args().seed))

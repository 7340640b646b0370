"""Sentences that releases of all families share."""

NOT_PROTECTED = (
    "That the data set exists, who holds it and which period it covers.",
    "What is true of the city as a whole: busy places and busy hours show, and are meant to.",
    "What other sources tell, or other releases of the same people on another account.",
)


def single_records_only(record: str) -> str:
    """Says what is not protected where single records are."""
    return (
        f"A person with many {record}s: only single {record}s are protected, so a habit repeated "
        "often can show."
    )


def plural(number: int, noun: str) -> str:
    """Writes a number of things."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"

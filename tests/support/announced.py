"""What a mechanism announced, held against what it did."""

from collections.abc import Sequence
from dataclasses import replace

from hushway.privacy.events import Event


def is_as_announced(planned: Sequence[Event], done: Sequence[Event], *, adaptive: bool) -> bool:
    """Whether just the announced events happened; of an adaptive mechanism, a beginning of them."""
    if not adaptive:
        return tuple(planned) == tuple(done)
    begun = [replace(event, cells=own.cells) for event, own in zip(planned, done, strict=False)]
    return 0 < len(done) <= len(planned) and begun == list(done)

"""How times in rows are meant: as a wall clock shows them, or as instants."""

from typing import Literal

Clock = Literal["wall", "instant"]

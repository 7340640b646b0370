"""A part that takes long enough to be killed: it says that it began, and waits."""

import os
import time
from pathlib import Path
from typing import Any

from hushway.families.od.rows.counter import TripPart
from hushway.privacy.query import ExactCounts

BEGAN = "HUSHWAY_TEST_BEGAN"
_WAIT_S = 8.0


class SlowTripPart(TripPart):
    """Counts trips, once it has waited."""

    def count(self, session: Any, rows: Any, progress: Any) -> ExactCounts:
        """Waits where nobody has waited before, and counts."""
        began = Path(os.environ[BEGAN])
        if not began.exists():
            began.touch()
            time.sleep(_WAIT_S)
        return super().count(session, rows, progress)

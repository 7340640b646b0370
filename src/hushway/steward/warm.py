"""The verb `warm`: compiles ahead what a first release would wait for."""

from collections.abc import Sequence

from hushway.progress import Progress, quiet
from hushway.warming.background import Compiling, usual_rehearsals


def warm(release_types: Sequence[str] | None = None, *, progress: Progress = quiet) -> list[str]:
    """Compiles machine code for release types; reads no plan and no rows.

    Args:
        release_types: Which; all of them unless said.
        progress: Told how much is still to be compiled.

    Returns:
        The release types that are ready.

    Raises:
        PlanError: There is no such release type.
    """
    rehearsals = usual_rehearsals(release_types or ())
    with Compiling(rehearsals) as compiling:
        compiling.wait(progress)
    return [name for name, _ in rehearsals]

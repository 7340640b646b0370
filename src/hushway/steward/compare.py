"""The verb `compare`: a release beside another one, or beside the exact rows of its plan."""

from pathlib import Path

from hushway.errors import PlanError
from hushway.families.comparison import Comparison, compare_releases, true_errors
from hushway.privacy.measured import Internal
from hushway.progress import Progress, quiet
from hushway.release.forecast.true_errors import TrueErrors


def compare(
    one: Path | str,
    other: Path | str | None = None,
    *,
    truth: Path | str | None = None,
    progress: Progress = quiet,
) -> Comparison | Internal[TrueErrors]:
    """Compares two releases figure by figure, or a release with the exact rows of its plan.

    Privacy:
        Two releases are published already: comparing them costs nothing. With `truth` all exact
        rows are read: the answer is Internal, for the steward's own screen.

    Args:
        one: A release folder.
        other: Another one, of the same type.
        truth: Instead of another release: the plan of this one.
        progress: Told in a few words what is being done.

    Raises:
        PlanError: There are not exactly two things to compare, or the plan is another release's.
        ReleaseError: A folder is no release, does not verify, or is of another type.
    """
    if truth is not None and other is None:
        return true_errors(Path(one), Path(truth), progress=progress)
    if other is None or truth is not None:
        raise PlanError(
            "A release is compared with one other thing.",
            advice="Name another release, or the plan of this one with --truth.",
        )
    progress("Comparing")
    return compare_releases(Path(one), Path(other))

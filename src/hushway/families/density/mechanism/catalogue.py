"""Densities by name: from the public facts of a plan to a complete mechanism."""

from hushway.families.density.mechanism.cleaning import Denoise
from hushway.families.density.mechanism.recommended import (
    Shares,
    recommended_cluster_error,
    recommended_shares,
    spends_of,
)
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.public.visits import VisitLimits
from hushway.privacy.loss import Loss


def density_series(  # noqa: PLR0913  one argument for each public choice
    limits: VisitLimits,
    *,
    budget: Loss,
    shares: Shares | None = None,
    denoise: Denoise = "patterns",
    clustering: bool = True,
    scaling: bool = True,
    night: bool = False,
    cluster_error: float | None = None,
) -> DensitySeries:
    """Returns a density by noisy series; without shares, the recommended ones.

    Privacy:
        All questions together cost exactly `budget`.

    Args:
        limits: How much of one person counts.
        budget: What the release may cost; its currency decides on the noise.
        shares: The share of each question; those of questions that are not asked must be 0.
        denoise: What becomes of the noise in a series.
        clustering: Whether small cells are merged before they are measured.
        scaling: Whether series are scaled to totals that were measured apart.
        night: Whether the night is replaced by exponential curves.
        cluster_error: Noise that a cluster's series may have, as a share of its total; without it,
            as recommended.
    """
    usual = recommended_shares(scaling=scaling, clustering=clustering, cuts=denoise == "cuts")
    return DensitySeries(
        limits=limits,
        spends=spends_of(budget, usual if shares is None else shares),
        denoise=denoise,
        night=night,
        cluster_error=recommended_cluster_error(denoise)
        if cluster_error is None
        else cluster_error,
    )


def naive_laplace(limits: VisitLimits, *, budget: Loss) -> DensitySeries:
    """Returns the naive baseline: noise on every count, and nothing done about it."""
    return density_series(limits, budget=budget, denoise="none", clustering=False, scaling=False)

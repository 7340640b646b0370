"""A picture of a release of links, drawn from the published numbers alone."""

import numpy as np

from hushway.families.links.files.map import draw_network, draw_scale
from hushway.families.links.files.panels import (
    draw_classes,
    draw_hours,
    draw_noise,
    draw_streets,
    totals_by_link,
)
from hushway.families.links.mechanism.table import LinkTable
from hushway.privacy.certificate import Certificate
from hushway.release.poster import TALL, png_of, poster, write_words
from hushway.release.wording import claim_text

# In parts of the figure.
_MAP = (0.015, 0.135, 0.6, 0.785)
_PANELS_LEFT, _PANELS_WIDTH, _PANEL_HEIGHT = 0.735, 0.25, 0.185
_PANEL_BOTTOMS = (0.705, 0.425, 0.16)


def draw_links_picture(table: LinkTable, certificate: Certificate) -> bytes:
    """Returns a PNG: the roads with the people on them, sums by class, noise, hours or streets."""
    several = len(table.universe.periods) > 1
    with poster(TALL) as figure:
        network = figure.add_axes(_MAP)
        scale = draw_network(network, table.universe.roads, totals_by_link(table))
        words = "travellers on a link, all periods" if several else "travellers on a link"
        draw_scale(network, scale, title=words)
        first, second, third = (
            figure.add_axes((_PANELS_LEFT, bottom, _PANELS_WIDTH, _PANEL_HEIGHT))
            for bottom in _PANEL_BOTTOMS
        )
        draw_classes(first, table, certificate)
        draw_noise(second, table)
        if several:
            draw_hours(third, table)
        else:
            draw_streets(third, table)
        write_words(figure, certificate, _caption(table, certificate))
        return png_of(figure)


def _caption(table: LinkTable, certificate: Certificate) -> str:
    universe = table.universe
    shown = len(np.unique(table.link))
    dots = (
        " Dots: measured sums, with links that do not show, ±2 standard errors."
        if table.class_totals is not None
        else ""
    )
    return (
        f"Drawn from the published numbers alone; {claim_text(certificate)}. {shown:,} of "
        f"{universe.roads.links:,} links show; a link in grey was estimated below "
        f"{table.threshold:g} of its standard errors and is not known to be empty. The two "
        "directions of a street lie side by side, each to the right of the middle. Bars by "
        "class: sums of published counts, which do not err independently, so that no error "
        "is shown for sums."
        f"{dots}"
    )

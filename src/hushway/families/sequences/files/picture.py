"""A picture of a sequences release, drawn from the published numbers alone."""

from hushway.families.sequences.files.icicle import draw_icicle
from hushway.families.sequences.files.length_panel import draw_lengths
from hushway.families.sequences.files.tree_shape import prefixes_of
from hushway.families.sequences.files.ways_map import draw_ways
from hushway.families.sequences.mechanism.table import SequenceTable
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.privacy.certificate import Certificate
from hushway.release.ground import MOST_FLOWS
from hushway.release.poster import TALL, png_of, poster, write_words
from hushway.release.wording import claim_text


def draw_sequences_picture(table: SequenceTable, certificate: Certificate) -> bytes:
    """Returns a PNG: ways between stops on the map, the first stops, and records by length."""
    prefix, groups = prefixes_of(table), colour_groups(table.taxonomy)
    with poster(TALL) as figure:
        ways = figure.add_axes((0.015, 0.165, 0.47, 0.72))
        clear = draw_ways(ways, table, prefix, groups)
        ways.set_title("From one stop to the next", loc="left", fontsize=11, pad=6)
        first = figure.add_axes((0.515, 0.375, 0.47, 0.485))
        draw_icicle(first, table, prefix, groups)
        first.set_title("The first stops of all records", loc="left", fontsize=11, pad=6)
        draw_lengths(figure.add_axes((0.56, 0.19, 0.425, 0.13)), table)
        write_words(figure, certificate, _caption(table, certificate, clear))
        return png_of(figure)


def colour_groups(taxonomy: Taxonomy) -> list[str]:
    """Returns what each location is coloured by: its coarsest group, or its zone without groups."""
    if not taxonomy.levels:
        return [place.zone for place in taxonomy.locations.places]
    level = taxonomy.levels[0]
    return [level.names[code] for code in level.codes.tolist()]


def _caption(table: SequenceTable, certificate: Certificate, clear: int) -> str:
    shown = "all" if clear <= MOST_FLOWS else f"the {MOST_FLOWS} largest"
    colours = table.taxonomy.levels[0].column if table.taxonomy.levels else "zone"
    return (
        f"Drawn from the published numbers alone; {claim_text(certificate)}. Lines bend to the "
        f"right of their way and are as wide as their records: {shown} of the {clear:,} ways whose "
        "sum over all stops exceeds two standard errors of its noise, taken as that of its "
        "prefixes before the fit. Boxes are as high as their records and stand beside the box that "
        "they continue; pale ones are shared by places of one group. What is white beside a box "
        "ends there, or went on too rarely to be published: prefixes measured below "
        f"the threshold of their step were cut, so records look shorter than they are. Colours: "
        f"{colours}."
    )

"""The public groups of locations that a sequences plan asks for."""

from dataclasses import dataclass

from hushway.families.sequences.plan import SequencesPlan
from hushway.families.sequences.public.gtfs_lines import line_taxonomy
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.public.taxonomy_columns import column_taxonomy
from hushway.families.sequences.public.taxonomy_generated import generated_taxonomy
from hushway.tables.locations import LocationColumns, read_locations

_ZONE = "zone"


@dataclass(frozen=True, kw_only=True)
class PlannedTaxonomy:
    """A taxonomy and the locations that several lines call at, each of which was given to one."""

    taxonomy: Taxonomy
    multi_line: tuple[str, ...] = ()


def planned_taxonomy(plan: SequencesPlan) -> PlannedTaxonomy:
    """Reads the locations of a plan and groups them.

    Raises:
        GeographyError: A public file is wrong, or the groups are no partition.
    """
    asked = plan.taxonomy
    labels = tuple(sorted(set(asked.columns) - {_ZONE}))
    columns = LocationColumns(**plan.places.columns.model_dump(), labels=labels)
    locations = read_locations(plan.path(plan.places.file), columns)
    if asked.columns:
        return PlannedTaxonomy(taxonomy=column_taxonomy(locations, asked.columns))
    if asked.gtfs is not None:
        lines = line_taxonomy(plan.path(asked.gtfs), locations)
        return PlannedTaxonomy(taxonomy=lines.taxonomy, multi_line=lines.multi_line)
    if asked.fan_out is not None:
        return PlannedTaxonomy(taxonomy=generated_taxonomy(locations, asked.fan_out))
    return PlannedTaxonomy(taxonomy=Taxonomy(locations=locations))

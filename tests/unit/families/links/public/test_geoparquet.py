"""Road networks that are kept as GeoParquet."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from hushway.errors import GeographyError
from hushway.families.links.public.geoparquet import read_links_parquet, write_links_parquet
from hushway.families.links.public.read import read_roads
from hushway.families.links.public.roads import RoadNetwork


def network(*, nodes: int = 3) -> RoadNetwork:
    """A street with a bend, both ways, and a street back; positions with all their digits."""
    return RoadNetwork(
        node_id=np.array(["n1", "é2", "n3"][:nodes]),
        node_lon=np.array([0.1, 1 / 3, 0.5][:nodes]),
        node_lat=np.array([0.0, 0.01, np.pi][:nodes]),
        link_id=np.array(["a", "a:b", "c"]),
        tail=np.array([0, 1, 0]),
        head=np.array([1, 0, 1]),
        length=np.array([10.25, 10.25, 1 / 7]),
        speed=np.array([30.0, 50.0, 48.28]),
        lanes=np.array([1.0, 1.5, 2.0]),
        road_class=np.array([1, 5, 3]),
        street=np.array([0, 0, 1]),
        name=np.array(["Straße", "", "C"]),
        start=np.array([0, 3, 6, 8]),
        lon=np.array([0.1, 0.2, 1 / 3, 1 / 3, 0.2, 0.1, 0.1, 1 / 3]),
        lat=np.array([0, 1 / 11, 0.01, 0.01, 1 / 11, 0, 0, 0.01]),
    )


def test_a_network_is_read_back_with_the_same_digest(tmp_path: Path) -> None:
    roads = network(nodes=2)
    write_links_parquet(roads, tmp_path / "roads.parquet")
    again = read_links_parquet(tmp_path / "roads.parquet")
    assert again.digest == roads.digest
    for name in roads.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(again, name), getattr(roads, name))


def test_the_reader_of_roads_knows_such_files_and_does_not_clean_them(tmp_path: Path) -> None:
    roads = network(nodes=2)
    write_links_parquet(roads, tmp_path / "roads.parquet")
    again, report = read_roads(tmp_path / "roads.parquet")
    assert again.digest == roads.digest
    assert report.sentences == ("3 of 3 directed links are used.",)


def test_nodes_without_links_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(GeographyError, match="nodes without links"):
        write_links_parquet(network(), tmp_path / "roads.parquet")


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "roads.parquet"
    write_links_parquet(network(nodes=2), file)
    table = pq.read_table(file)
    at = table.schema.get_field_index("speed")
    faster = table.set_column(at, "speed", [[31.0, 50.0, 48.28]])
    pq.write_table(faster.replace_schema_metadata(table.schema.metadata), file)
    with pytest.raises(GeographyError, match="was changed"):
        read_links_parquet(file)


def test_files_that_are_missing_damaged_or_something_else_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "roads.parquet"
    with pytest.raises(GeographyError, match=r"no roads file roads\.parquet"):
        read_links_parquet(file)
    write_links_parquet(network(nodes=2), file)
    table = pq.read_table(file)
    pq.write_table(table.drop_columns(["tail"]), file)
    with pytest.raises(GeographyError, match="damaged"):
        read_links_parquet(file)
    pq.write_table(table.replace_schema_metadata({}), file)
    with pytest.raises(GeographyError, match="damaged"):
        read_links_parquet(file)
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(GeographyError, match="damaged"):
        read_links_parquet(file)

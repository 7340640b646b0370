import numpy as np

from hushway.families.sequences.fit.table import ends_of


def test_without_groups_records_end_where_no_child_continues_them() -> None:
    parent = np.array([-1, -1, 0, 0, 2])
    counts = np.array([10, 4, 5, 3, 5])
    prefixes = np.ones(5, dtype=np.bool_)
    assert ends_of(parent, prefixes, counts).tolist() == [2, 4, 0, 3, 5]


def test_records_lost_in_a_group_end_at_the_prefix_before_it() -> None:
    # group 0 > stop 1 > groups 2 and 3; group 2 > stop 4; group 3 has no kept location.
    parent = np.array([-1, 0, 1, 1, 2])
    prefixes = np.array([False, True, False, False, True])
    counts = np.array([20, 15, 8, 4, 6])
    assert ends_of(parent, prefixes, counts).tolist() == [0, 9, 0, 0, 6]


def test_records_lost_on_several_levels_of_groups_end_at_the_same_prefix() -> None:
    # stop 2 lies below groups 0 and 1, stop 5 below stop 2 and groups 3 and 4.
    parent = np.array([-1, 0, 1, 2, 3, 4])
    prefixes = np.array([False, False, True, False, False, True])
    counts = np.array([30, 25, 20, 12, 9, 7])
    assert ends_of(parent, prefixes, counts).tolist() == [0, 0, 13, 0, 0, 7]


def test_a_tree_without_nodes_has_no_ends() -> None:
    nobody = np.empty(0, dtype=np.int64)
    assert ends_of(nobody, nobody.astype(np.bool_), nobody).tolist() == []

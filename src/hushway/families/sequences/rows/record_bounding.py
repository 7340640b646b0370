"""Which records of a person are kept: the rule of trips, for sequences."""

import numpy as np

from hushway.arrays import IntArray
from hushway.engine.circle import kept_in_circle
from hushway.engine.key import BoundingKey
from hushway.families.sequences.rows.records import Records


def bounded_records(records: Records, most: int, key: BoundingKey) -> Records:
    """Returns the records with at most `most` of each person, a uniform choice.

    A person's records stand in a circle, in an order that the key decides by what is in each record
    and when it began. Records that tie are alike, so what is counted depends on the records as a
    multiset and on the key.

    Privacy:
        Exactly min(n, most) of a person's n records stay; the choice reads that person's records
        and the key alone. Records without a person are units of their own, and all stay.
    """
    if records.person is None or not len(records):
        return records
    person = _numbers(records.person)
    many = np.bincount(person)[person] > most
    if not many.any():
        return records
    crowded = np.flatnonzero(many)
    whose = _numbers(person[crowded])
    one, two = _contents(records, crowded, key)
    since = _numbered(whose, one, two) if records.since_us is None else records.since_us[crowded]
    place = key.place(key.mixed(since, one, two))
    chosen = kept_in_circle(whose, place, (since, two, one), most, key)
    kept = ~many
    kept[crowded[chosen]] = True
    return records.only(np.flatnonzero(kept))


def _numbers(person: IntArray) -> IntArray:
    """Numbers persons 0, 1, 2, ... in the order of their codes."""
    changes = np.diff(person, prepend=person[0])
    # Files come sorted; for others sorting cannot be avoided.
    if (changes >= 0).all():
        return np.cumsum(changes != 0)
    _, numbers = np.unique(person, return_inverse=True)
    return numbers.astype(np.int64)


def _contents(records: Records, chosen: IntArray, key: BoundingKey) -> IntArray:
    """Returns two numbers of the field for what is in each of some records."""
    chain = np.zeros((2, len(chosen)), dtype=np.int64)
    begin, length = records.start[chosen], records.lengths[chosen]
    going = np.arange(len(chosen))
    for step in range(int(length.max())):
        going = going[length[going] > step]
        at = begin[going] + step
        longer = key.chained(chain[:, going], records.stops[at].astype(np.int64))
        if records.periods is not None:
            longer = key.chained(longer, records.periods[at].astype(np.int64))
        chain[:, going] = longer
    return chain


def _numbered(person: IntArray, one: IntArray, two: IntArray) -> IntArray:
    """Numbers the records of each person that are alike, so that they do not all tie."""
    order = np.lexsort((two, one, person))
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = False
    for column in (person, one, two):
        fresh[1:] |= np.diff(column[order]) != 0
    first = np.flatnonzero(fresh)
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.arange(len(order)) - np.repeat(first, np.diff([*first, len(order)]))
    return numbers

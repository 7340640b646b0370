"""How records begin, turn and end: the model of the first noisy answers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.sequences.fit.answers import Answer, believed, margin
from hushway.families.sequences.fit.posterior import Posterior, proportional_fit, rings
from hushway.families.sequences.public.questions import FIRST_NEW, TURNS, Asked, Turn
from hushway.geography.locations import Locations

# How unlike the stops of records with many and with few new ones are: of a share of stops that are
# left out, this much is an error of the rest.
_UNLIKE: Final = 0.3
# A noisy turn counts from two scales on; five scales of what is usual are added to it.
_CLEAR_TURN: Final = 2.0
_USUAL: Final = 5.0
_PLACE_USUAL: Final = 3.0
# Of the whole budget, what questions that are asked together get; and what pairs usually get.
_TOGETHER: Final = 0.46
_USUAL_PAIRS: Final = 0.14
# Records a scale of noise and a pair of places, below which places are told before pairs.
_STRONG: Final = 0.5
# New stops after the second that a record has, up to which it is not long, and from which on it is.
_SHORT, _LONG = 1.0, 4.0
_LEAST_FACTOR, _MOST_FACTOR = 0.2, 5.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Outline:
    """Records by number of stops (from 1) and by number of new stops after the second (from 0)."""

    lengths: FloatArray
    new: FloatArray
    places: int

    @property
    def records(self) -> float:
        """Number of records."""
        return float(self.lengths.sum())

    @property
    def new_stops(self) -> float:
        """Number of new stops after the second."""
        return float(self.new @ np.arange(len(self.new)))

    def reached(self, most: int) -> float:
        """Returns how many new stops are counted if a record has so many at most."""
        return float(self.new @ np.minimum(np.arange(len(self.new)), most))

    def stops_that_count(self, noise: float) -> int:
        """Returns how many new stops of a record should count: few mean less noise, many less bias.

        `noise` is the scale of the noise in a count, if one new stop of a record counts.
        """
        total = max(self.new_stops, 1.0)
        usual = total / self.places
        costs = [
            most * noise / usual + _UNLIKE * (1 - self.reached(most) / total)
            for most in range(1, len(self.new))
        ]
        return 1 + int(np.argmin(costs))

    def shares(self, noise: float) -> FloatArray:
        """Returns the budget shares of questions that are asked together.

        They are those of first stops, last stops, first two stops, new stops by place and by pair.

        Args:
            noise: The scale of the noise in a count that got the whole budget of the release.
        """
        many = max(self.records, 1.0)
        strength = many / noise / self.places**2
        weak = float(np.clip(np.log10(_STRONG / max(strength, 1e-9)), 0.0, 1.0))
        most = self.stops_that_count(noise / _USUAL_PAIRS)
        going_on = self.new_stops / (most * many)
        # Of long records, little is told by how they begin and end.
        long = float(np.interp(self.new_stops / many, (_SHORT, _LONG), (0.0, 1.0)))
        pooled = float(np.clip(0.12 + 0.6 * going_on, 0.1, 0.3)) * (1 - weak * (1 - long) / 2)
        ends = weak * (1 - long / 2)
        firsts, lasts = 0.04 + 0.07 * ends, 0.03 + 0.04 * ends
        by_place = pooled * (1 + weak * long) / 6
        two = _TOGETHER - firsts - lasts - pooled
        return np.array([firsts, lasts, two, by_place, pooled - by_place]) / _TOGETHER


def learn_outline(answers: Sequence[Answer], places: int) -> Outline:
    """Learns how long records are, and how much in them is new."""
    lengths = _lengths(answers[Asked.LENGTHS])
    return Outline(
        lengths=lengths, new=_numbers_of_new(answers[Asked.NEW_STOPS], lengths), places=places
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordModel:
    """What is known of records before new stops are counted.

    Attributes:
        answers: The noisy answers, by `Asked`.
        ring: In which ring around each place each other one lies.
        outline: How long records are, and how much in them is new.
        expected_two: The prior of the first two stops, from first and last stops and distances.
        two: Their posterior; the last column is for records of one stop.
        turns: Chance of each turn, by number of the stop and turn to it.
        inclined: How much likelier each turn is at each place than usual.
    """

    answers: tuple[Answer, ...]
    height: int
    ring: IntArray
    outline: Outline
    firsts: FloatArray
    expected_two: FloatArray
    two: Posterior
    turns: FloatArray
    inclined: FloatArray

    @property
    def lengths(self) -> FloatArray:
        """Records by number of stops, from 1 on."""
        return self.outline.lengths

    @property
    def records(self) -> float:
        """Number of records."""
        return self.outline.records

    @property
    def places(self) -> int:
        """Number of places."""
        return self.outline.places


def learn_record_model(answers: Sequence[Answer], locations: Locations, height: int) -> RecordModel:
    """Estimates how records begin, turn and end, from the answers in the order of `Asked`."""
    ring = rings(locations)
    places = len(ring)
    outline = learn_outline(answers, places)
    records, alone = outline.records, float(outline.lengths[0])
    ones = np.ones(places)
    firsts = margin(answers[Asked.FIRSTS], ones, records)
    lasts = margin(answers[Asked.LASTS], firsts, records)
    two = answers[Asked.FIRST_TWO]
    second = two.only((slice(None), slice(places))).columns()
    seconds = margin(second, firsts + lasts, max(records - alone, 0.0))
    classes = np.column_stack([ring, np.full(places, ring.max() + 1)])
    expected = proportional_fit(two.values, firsts, np.append(seconds, alone), (classes,))
    found = believed(two.flat, expected.ravel())
    shaped = Posterior(
        mean=found.mean.reshape(expected.shape), variance=found.variance.reshape(expected.shape)
    )
    turned = _possible(answers[Asked.TURNS])
    visits = firsts + shaped.mean[:, :places].sum(axis=0)
    return RecordModel(
        answers=tuple(answers),
        height=height,
        ring=ring,
        outline=outline,
        firsts=firsts,
        expected_two=expected,
        two=shaped,
        turns=_ending_as(outline.lengths, _chances(turned, outline.lengths), turned),
        inclined=_inclined(answers[Asked.TURNS_BY_PLACE], lasts, visits),
    )


def _clear(answer: Answer) -> FloatArray:
    """Returns counts without those that noise alone would make."""
    return np.where(answer.values > answer.scales, answer.values, 0.0)


def _lengths(answer: Answer) -> FloatArray:
    """Returns records by number of stops, as many as were measured in all."""
    clear = _clear(answer)
    scaled: FloatArray = clear * max(float(answer.values.sum()), 0.0) / max(clear.sum(), 1e-9)
    return scaled


def _numbers_of_new(answer: Answer, lengths: FloatArray) -> FloatArray:
    """Returns records by number of new stops: never more than have as many stops."""
    longer = np.append(np.cumsum(lengths[::-1])[::-1], 0.0)
    most = np.minimum(
        np.cumsum(_clear(answer)[::-1])[::-1], longer[FIRST_NEW - 1 :][: len(answer.values)]
    )
    most[0] = lengths.sum()
    most = np.minimum.accumulate(most)
    found: FloatArray = most - np.append(most[1:], 0.0)
    return found


def _possible(answer: Answer) -> Answer:
    """Returns turns without those that no record can make."""
    stop = np.arange(len(answer.values))
    # Nothing follows an end, and each turn back needs some stops before it.
    earliest = np.array([len(stop), 1, 2, 3, 4, 5, 0])
    before = (stop[:, None] >= earliest) & ((stop > 0)[:, None] | (earliest == 0))
    after = stop[:, None] + 1 >= np.where(earliest == len(stop), 0, earliest)
    made = before[:, :, None] & after[:, None, :] & (stop < len(stop) - 1)[:, None, None]
    if answer.unsure is not None:
        answer = _told_from_noise(answer, made)
    return replace(answer, values=np.where(made, answer.values, 0.0))


def _told_from_noise(answer: Answer, made: BoolArray) -> Answer:
    """Returns turns of which what noise alone may be is taken off.

    Noise in turns may be as large as the number of records, so that none of them shows. With other
    steps it is not, and some of very many turns that nobody makes would seem to be all there is.
    """
    possible = answer.only(made)
    values = answer.values.copy()
    values[made] = believed(
        possible, np.ones(len(possible.values)), fewest=made.size, free=True
    ).mean
    return replace(answer, values=values)


def _chances(answer: Answer, lengths: FloatArray) -> FloatArray:
    """Returns the chance of every turn, by stop and turn before, smoothed to what is usual.

    What is usual after a turn is smoothed to what is usual after any, and that to going on to new
    places: if only noise were known, records could go back and forth for ever, or all end.
    """
    scale = answer.noise.scale
    # No more records turn at a stop than get there.
    reach = np.cumsum(lengths[::-1])[::-1]
    values = np.minimum(answer.values, reach[:, None, None])
    pooled = scale * np.sqrt(2 * len(values))
    after = values.sum(axis=0)
    after = np.where(after > _CLEAR_TURN * pooled, after, 0.0)
    any_turn = _smoothed(after.sum(axis=0), np.eye(TURNS)[Turn.TO_NEW], pooled)
    usual = _smoothed(after, any_turn, _USUAL * pooled)
    clear = np.where(values > _CLEAR_TURN * scale, values, 0.0)
    return _smoothed(clear, usual, _USUAL * scale)


def _smoothed(found: FloatArray, usual: FloatArray, added: float) -> FloatArray:
    chances: FloatArray = (found + added * usual) / (found.sum(axis=-1, keepdims=True) + added)
    return chances


def _ending_as(lengths: FloatArray, chances: FloatArray, answer: Answer) -> FloatArray:
    """Returns chances of turns by which as many records end at each stop as have that length.

    Lengths carry less noise than turns: each record has one of them.
    """
    remaining = np.cumsum(lengths[::-1])[::-1]
    share = np.clip(lengths / np.maximum(remaining, 1e-9), 1e-6, 1 - 1e-6)
    weight = np.maximum(answer.values.sum(axis=2), answer.noise.scale)
    ends = np.clip(chances[:, :, Turn.ENDS], 1e-6, 1 - 1e-6)
    usual = (weight * ends).sum(axis=1) / weight.sum(axis=1)
    factor = (share / (1 - share)) / (usual / (1 - usual))
    odds = factor[:, None] * ends
    fresh = odds / (1 - ends + odds)
    changed: FloatArray = chances * ((1 - fresh) / (1 - ends))[:, :, None]
    changed[:, :, Turn.ENDS] = fresh
    return changed


def _inclined(answer: Answer, lasts: FloatArray, visits: FloatArray) -> FloatArray:
    """Returns by how much each turn is likelier at each place than over all."""
    values, scale = answer.values, answer.noise.scale
    overall = np.maximum(values.sum(axis=0), 0.0)
    overall /= max(float(overall.sum()), 1e-9)
    usual = np.maximum(values.sum(axis=1), 0.0)[:, None] * overall
    added = _PLACE_USUAL * scale
    factor = (np.maximum(values, 0.0) + added) / (usual + added)
    # Ends are told by last stops, which carry less noise: each record has one of them.
    ends = (lasts + 1) / (visits * lasts.sum() / max(float(visits.sum()), 1e-9) + 1)
    factor[:, Turn.ENDS] = ends
    clipped: FloatArray = np.clip(factor, _LEAST_FACTOR, _MOST_FACTOR)
    return clipped

"""Sequences of stops for researchers: learnt records, prefix trees, scenes, a synthetic metro.

What was computed against the truth comes wrapped in `Internal`, and cannot be published.
"""

from typing import TYPE_CHECKING

from hushway.lazy_exports import attach

__all__ = [
    "LearnedSequences",
    "RecordTable",
    "SequenceScene",
    "SequenceTable",
    "SequenceUniverse",
    "Taxonomy",
    "card_scene",
    "grow",
    "learned_spends",
    "metro",
    "prefix_tree",
    "step_spends",
]

if TYPE_CHECKING:
    from hushway.families.sequences.city.cards import metro
    from hushway.families.sequences.fit.table import RecordTable, SequenceTable
    from hushway.families.sequences.mechanism.learned import LearnedSequences, learned_spends
    from hushway.families.sequences.mechanism.steps import step_spends
    from hushway.families.sequences.mechanism.tree import prefix_tree
    from hushway.families.sequences.public.prefixes import SequenceUniverse
    from hushway.families.sequences.public.taxonomy import Taxonomy
    from hushway.families.sequences.study.data import SequenceScene, card_scene, grow
else:
    __getattr__, __dir__ = attach(__name__, __all__)

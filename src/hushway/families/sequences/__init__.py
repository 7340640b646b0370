"""Sequences of stops for researchers: learnt records, prefix trees, scenes, a synthetic metro.

What was computed against the truth comes wrapped in `Internal`, and cannot be published.
"""

from typing import Any

from hushway.lazy_exports import face

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

_find = face(
    __name__,
    {
        "city.cards": ("metro",),
        "mechanism.learned": ("LearnedSequences", "learned_spends"),
        "fit.record_table": ("RecordTable",),
        "mechanism.steps": ("step_spends",),
        "fit.table": ("SequenceTable",),
        "mechanism.tree": ("prefix_tree",),
        "public.prefixes": ("SequenceUniverse",),
        "public.taxonomy": ("Taxonomy",),
        "study.data": ("SequenceScene", "card_scene", "grow"),
    },
)


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return __all__

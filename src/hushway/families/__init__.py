"""What a family is built from, under one roof: `from hushway import families as hw`.

The four families here are built from the same parts, imported from where they live. Whoever writes
one of their own, or studies one, finds them together; `CONTRIBUTING.md` says how. The names are
listed in `__init__.pyi`, which type checkers and editors read too.
"""

from pathlib import Path

from hushway.lazy_exports import stub_exports

__getattr__, __dir__, __all__ = stub_exports(__name__, Path(__file__).with_suffix(".pyi"))

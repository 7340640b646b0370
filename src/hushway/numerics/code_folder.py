"""The folder of machine code, for modules that compile nothing themselves.

A file that imports `hushway.numerics.compiled` counts as one with compiled functions, and all that
it imports as their sources: a command that only asks for the folder would make machine code stale
with every change of the command line.
"""

from hushway.numerics.compiled import code_folder

__all__ = ["code_folder"]

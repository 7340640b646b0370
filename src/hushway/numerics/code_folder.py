"""Where machine code is kept, for those who have no loops of their own to compile.

Whoever imports `hushway.numerics.compiled` counts as a file with compiled functions, and all that
it imports as sources of them: a verb that only asks for the folder would make machine code stale
with every change of the command line.
"""

from hushway.numerics.compiled import code_folder

__all__ = ["code_folder"]

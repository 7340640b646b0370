"""When this process began to read the package: the first module that is imported."""

from time import time_ns

STARTED_NS = time_ns()

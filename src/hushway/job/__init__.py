"""A plan brought to life, as far as public facts reach: no row is read here."""

from hushway.job.job import Job
from hushway.job.prepare import prepare

__all__ = ["Job", "prepare"]

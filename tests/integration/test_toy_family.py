"""A fifth family, from plan to audit, without touching any other file."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from toy_family import ToyFamily, Visits, one_person

from hushway.audit.suite import Mutant, Suite
from hushway.cli.verbs import app
from hushway.families.registry import FAMILIES
from typer.testing import CliRunner

PLAN = """
family = "toy"
visits = "visits.csv"
areas = ["north", "south", "west"]
[data]
name = "visits"
[privacy]
unit = "person"
epsilon = "1"
[ledger]
period = "always"
[release]
folder = "release"
title = "People by area"
"""

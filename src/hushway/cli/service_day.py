"""The day of a release that verbs look at, as options."""

from typing import Annotated

import typer

DayOption = Annotated[
    str | None,
    typer.Option(help="A weekday (Tue) or date (2026-03-03), if the release tells them apart."),
]
HoursOption = Annotated[
    str | None, typer.Option(help="Such as 08:00-10:00.", show_default="the whole day")
]

"""How a reproduction of a paper describes itself to `hushway reproduce`."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class StudyOption:
    """A whole number that the command line may set.

    Attributes:
        name: What the option is called.
        help: What it means.
        least: The smallest value that is allowed.
        default: Its value unless given; None if the study decides.
        shown: What help prints for a default of None.
    """

    name: str
    help: str
    least: int = 1
    default: int | None = None
    shown: str = ""


@dataclass(frozen=True, kw_only=True)
class Study:
    """A reproduction of a paper on a synthetic city.

    Attributes:
        name: What the command line calls it.
        help: What is reproduced, with the paper and its year.
        runs: How often everything is run unless the command line says otherwise.
        run_of: What is run so often.
        options: What else can be chosen.
        prefix: What the names of its files of numbers and tables begin with.
        of: The study whose command has this one as a flag; None if it is a command of its own.
        resumable: Whether it takes its folder, and goes on from what an earlier run left there.
    """

    name: str
    help: str
    runs: int
    run_of: str
    options: tuple[StudyOption, ...] = ()
    prefix: str = ""
    of: str | None = None
    resumable: bool = False

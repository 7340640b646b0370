"""A table of a study, for the screen and for a file."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class StudyTable:
    """A titled table of text; columns whose name starts with '#' hold numbers."""

    title: str
    columns: list[str]
    rows: list[list[str]]

    def markdown(self) -> str:
        """Returns the table as Markdown."""
        names = [column.lstrip("#") for column in self.columns]
        rule = ["---:" if column.startswith("#") else "---" for column in self.columns]
        lines = [names, rule, *self.rows]
        body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return f"### {self.title}\n\n{body}\n"

"""README.md: what a release is and what its files are, for whoever opens the folder."""

from html import escape

from hushway.privacy.certificate import Certificate
from hushway.release.documents.papers import PACKAGE, PAGE, heading, papers_of
from hushway.release.folder.published_file import Description, Resource
from hushway.release.forecast.known import KNOWN
from hushway.release.wording import claim_text, counted_sentence, guarantee

_HOW = f"""- Look at `picture.png`, and read `{PAGE}` in a browser.
- Every count has its `standard_error`; `low` and `high` are the ends of an interval of 95%. A count
  below twice its error says little by itself.
- Sums of any rows, with their intervals: `hushway ask FOLDER --help`.
- Whether it is as it was published, and adds up: `hushway verify FOLDER`; whether it follows from
  its noisy answers, to the last byte: `hushway verify FOLDER --refit`.
"""


def render_readme(certificate: Certificate, description: Description) -> bytes:
    """Returns README.md: the same bytes for the same release."""
    known = description.facts.get(KNOWN)
    sentences = (
        counted_sentence(certificate),
        f"{guarantee(certificate)} {claim_text(certificate)}.",
        certificate.terms.error,
        *([] if known is None else [str(known)]),
    )
    files = (*description.resources, *papers_of(description))
    left_out = description.omitted.items()
    opened = "".join(map(_opened, description.further))
    return (
        f"# {plain_words(heading(certificate) + certificate.title)}\n\n"
        + "".join(f"{plain_words(sentence)}\n\n" for sentence in sentences)
        + f"## How to use it\n\n{opened}{_HOW}\n"
        + f"## Files\n\nColumns are described in `{PACKAGE}`.\n\n"
        + f"| file | what it is |\n|---|---|\n{''.join(map(_row, files))}"
        + "".join(f"\nWithout `{path}`: {plain_words(why)}\n" for path, why in left_out)
    ).encode()


def _opened(paper: Resource) -> str:
    return f"- {paper.title}: open `{paper.path}`.\n"


def _row(file: Resource) -> str:
    return f"| `{file.path}` | {plain_words(file.title)}. {plain_words(file.description)} |\n"


def plain_words(text: str) -> str:
    """Returns a text that is no markup, whatever a publisher calls things."""
    for letter in "\\`*_[]|#":
        text = text.replace(letter, f"\\{letter}")
    return escape(text, quote=False)

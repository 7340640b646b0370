"""The sign-off pack of a release, for the file of a privacy officer: plain text in Markdown.

Questions follow the pyramid of NIST SP 800-226 (March 2025), from the parameters down to how data
were collected, and GDPR Article 35(7). What the certificate tells is answered from it; what no
software can know is left open, and marked.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from hushway.privacy.certificate import Certificate
from hushway.privacy.loss import Measure
from hushway.release.folder.finding import Outcome, Verification
from hushway.release.wording import (
    claim_text,
    epsilon_of,
    guarantee,
    loss_text,
    number_text,
)

OPEN: Final = "TO BE ANSWERED:"
# Beliefs that somebody may have had before, in percent.
_BELIEFS: Final = (1, 10, 50)
_LARGE_EPSILON: Final = 700.0


def render_dossier(certificate: Certificate, verified: Verification) -> bytes:
    """Returns the sign-off pack: the same bytes for the same release and findings."""
    window = verified.subject.window if verified.subject is not None else None
    parts = [
        f"# Sign-off of the release {certificate.title}",
        _introduction(certificate),
        _section("Who and what for", _answers(_named(certificate, window))),
        _section("Risks in plain odds", _odds(certificate)),
        _section("Decisions", _answers(_decisions(certificate))),
        _section("NIST SP 800-226, point by point", _answers(_nist(certificate))),
        _section(
            "Data protection impact assessment (GDPR Article 35)", _answers(_dpia(certificate))
        ),
        _section("What was checked", _checks(verified)),
        _section(
            "Signatures", "Approved by, date, signature:\n\nPrivacy officer, date, signature:"
        ),
    ]
    return ("\n\n".join(parts) + "\n").encode()


def _introduction(certificate: Certificate) -> str:
    return (
        f"{guarantee(certificate)} Made from the certificate of release {certificate.release_id}, "
        f"{certificate.created_at[:10]}, by {certificate.software}. Answers that no software can "
        f"give are marked {OPEN.rstrip(':')}."
    )


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}"


def _answers(questions: Mapping[str, str]) -> str:
    return "\n\n".join(f"**{question}**\n{answer}" for question, answer in questions.items())


def _listed(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences)


def _open(words: str) -> str:
    return f"{OPEN} {words}"


def _named(certificate: Certificate, window: str | None) -> dict[str, str]:
    account = certificate.account
    return {
        "Publisher": certificate.publisher or _open("who publishes it (release.publisher)."),
        "Contact": certificate.contact or _open("where readers may ask (release.contact)."),
        "Purpose": certificate.intended_use or _open("what it is for (release.intended_use)."),
        "Approver": certificate.approver or _open("who answers for it (release.approver)."),
        "Data set": f"{account.dataset}, account period {account.period}",
        "Days": window or "It holds no times.",
        "What is published": certificate.terms.domain.cells,
    }


def _odds(certificate: Certificate) -> str:
    """Returns how far a belief about one unit may move: by a factor of e^epsilon in its odds."""
    epsilon, unit = epsilon_of(certificate), certificate.terms.unit
    if certificate.stamp is not None or epsilon is None:
        return guarantee(certificate)
    odds = math.exp(min(float(epsilon), _LARGE_EPSILON))
    conversion = certificate.epsilon_delta
    pure = certificate.claim.measure is Measure.PURE or conversion is None
    except_for = (
        "" if pure or conversion is None else f", except with a chance of {conversion.delta}"
    )
    moves = (
        f"from {before}% to at most {_after(before, odds):.3g}%, or down to at least "
        f"{_after(before, 1 / odds):.2g}%"
        for before in _BELIEFS
    )
    return (
        f"{guarantee(certificate)}\n\nWhatever somebody believed about one {unit} before reading "
        f"the release, its rows move the odds by a factor of at most {odds:.3g}{except_for}:\n\n"
        f"{_listed(moves)}\n\nNeighbours: {unit.adjacency}"
    )


def _after(percent: int, odds: float) -> float:
    """Returns the percent that a belief becomes if its odds are multiplied."""
    return 100 * percent * odds / (percent * odds + 100 - percent)


def _decisions(certificate: Certificate) -> dict[str, str]:
    who = certificate.approver or _open("nobody is named.")
    account = certificate.account
    return {
        "Who took them": who,
        "Privacy loss": claim_text(certificate),
        "Protected unit": str(certificate.terms.unit),
        "Contribution limits": certificate.terms.contribution.words,
        "Budget of the account": f"{account.measure.symbol} {number_text(account.budget_limit)}, "
        f"of which {number_text(account.spent)} is spent{account.around}, this release included",
        "How parameters were chosen": certificate.tuning.sentence,
        "Taken as public": _listed(certificate.terms.domain.assumed_public),
    }


def _nist(certificate: Certificate) -> dict[str, str]:
    terms = certificate.terms
    return {
        "Privacy parameters": f"{claim_text(certificate)}. Composition: {certificate.composition}",
        "Unit of privacy": f"{terms.unit.adjacency} {terms.contribution.words}",
        "Comparison with other releases of the same people": "Losses of this account add up in its "
        f"ledger (entry {certificate.account.ledger_entry}). "
        + _open("which other data sets and publishers hold rows of the same people."),
        "Algorithms": "\n".join(
            [
                f"{terms.mechanism.name}; {len(terms.events)} noisy answers:",
                *(f"- {event.query}: {loss_text(event.loss)}" for event in terms.events),
            ]
        ),
        "Utility": terms.error,
        "Bias": "\n".join(
            [
                *(f"- {step}" for step in terms.post_processing),
                "- " + _open("whom the data leave out (people without cards, phones or accounts)."),
            ]
        ),
        "Trust model": "Central: the publisher holds the rows and is trusted with them; readers "
        "are not trusted with anything.",
        "Mechanism implementation": f"{certificate.sampler}. {certificate.floating_point} "
        f"Randomness: {certificate.randomness.source}.",
        "Side channels": "How long a run takes and how much memory it needs are not protected. "
        + _open("who can watch the machine that publishes."),
        "Data security and access control": _open(
            "who may read the rows, where they are kept, whether disks are encrypted."
        ),
        "Data collection exposure": _open(
            "how rows are collected, what else is collected with them, and when they are deleted."
        ),
        "Not protected": _listed(terms.not_protected),
    }


def _dpia(certificate: Certificate) -> dict[str, str]:
    terms = certificate.terms
    purpose = certificate.intended_use or _open("the purpose.")
    return {
        "(a) The processing and its purposes": "Rows of the data set "
        f"{certificate.account.dataset} are bounded, counted in public cells "
        f"({terms.domain.cells}), and published with noise. {terms.contribution.words} "
        f"Purpose: {purpose} "
        + _open("legal basis, categories of data subjects, recipients, retention of the rows."),
        "(b) Necessity and proportionality": "Published are noisy counts only: no row, no id and "
        "no exact count leaves the publisher. "
        + _open("why these places, periods and this budget, and nothing coarser, are needed."),
        "(c) Risks to data subjects": f"{guarantee(certificate)}\n{_listed(terms.not_protected)}\n"
        + _open("what singling out, linking or inferring would mean for the people concerned."),
        "(d) Measures": "Differential privacy as certified above; a ledger that refuses to spend "
        "beyond its limit; a release that anybody can verify without the rows. "
        + _open(
            "organisational measures, security of the rows, advice of the data protection "
            "officer (Article 35(2)), views of data subjects (Article 35(9))."
        ),
        "Review (Article 35(11))": _open("when this is looked at again, and what would change it."),
    }


def _checks(verified: Verification) -> str:
    return "\n\n".join([f"hushway verify: {verified.result}.", _listed(_findings(verified))])


def _findings(verified: Verification) -> Iterator[str]:
    for check in verified.checks:
        absent = " (nothing to check)" if check.outcome is Outcome.ABSENT else ""
        yield f"{check.name}{absent}: {check.sentence}"

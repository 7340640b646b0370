"""Which release was verified, and who answers for it: said first, before anything is judged.

A release may be renamed, or an old one shown in place of a new one, and still add up. Only a reader
who sees what it calls itself can notice that it is not the one that was asked for.
"""

from dataclasses import dataclass

from hushway.escaping import visible
from hushway.privacy.certificate import Certificate
from hushway.privacy.signing import PublicKey

UNSIGNED = (
    "Not signed: nobody answers for it. Anybody could have made it up or changed it: its names, "
    "dates and data set, the protected unit, the contribution limits, what was spent, an epsilon "
    "at a large delta, the budget limit and the published numbers, all together, and sealed it "
    "again so that it adds up."
)
_NOT_COMPARED = (
    "Signed with the key {fingerprint}, which anybody could have made: compare it with the "
    "publisher's."
)


def signature_warning(signer: PublicKey | None) -> str:
    """Returns what a reader must know who has not compared the signer's key with a publisher's."""
    return UNSIGNED if signer is None else _NOT_COMPARED.format(fingerprint=signer.fingerprint)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What a release says that it is. Texts are safe to print: they are made visible.

    Attributes:
        title: Its title.
        release_id: Its name, unique for its publisher.
        release_type: What kind of release it is.
        dataset: The protected data set.
        account_period: The stretch of time that the account covers.
        window: The days that it covers, in words; None if it has no times.
        unit: Who or what is protected.
        created_at: When it was written, by the publisher's clock.
        publisher: Who publishes it, if anybody is named.
        certificate: The digest of its certificate.
        signer: The key that signed it.
    """

    title: str
    release_id: str
    release_type: str
    dataset: str
    account_period: str
    window: str | None
    unit: str
    created_at: str
    publisher: str | None
    certificate: str
    signer: PublicKey | None


def subject_of(
    certificate: Certificate, *, window: str | None, signer: PublicKey | None
) -> Subject:
    """Returns what the certificate of a release under an unbroken seal says that it is.

    Args:
        certificate: The certificate.
        window: The days that the public list of periods covers, in words.
        signer: Whose signature on the seal is valid.
    """
    publisher = certificate.publisher
    return Subject(
        title=visible(certificate.title),
        release_id=visible(certificate.release_id),
        release_type=visible(certificate.terms.release_type),
        dataset=visible(certificate.account.dataset),
        account_period=visible(certificate.account.period),
        window=window,
        unit=str(certificate.terms.unit),
        created_at=certificate.created_at,
        publisher=None if publisher is None else visible(publisher),
        certificate=certificate.digest,
        signer=signer,
    )

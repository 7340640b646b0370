"""The certificate of what a plan has published: its sentences, and its page."""

from pathlib import Path
from typing import Any, Final

from starlette.responses import Response

from hushway.families.sealed import sealed_release
from hushway.release.folder.subject import signature_warning
from hushway.release.untrusted.limits import read_plain
from hushway.release.wording import claim_text, guarantee

PAGE: Final = "certificate.html"
# Sandboxed: no scripts, no requests, no forms.
POLICY: Final = (
    "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)
_MOST_BYTES: Final = 20_000_000


def certificate_facts(folder: Path) -> dict[str, Any]:
    """Returns what a certificate says, in sentences.

    Raises:
        ReleaseError: There is no release, or it is not as it was sealed and signed.
    """
    certificate, seal = sealed_release(folder)
    terms = certificate.terms
    return {
        "release": certificate.release_id,
        "title": certificate.title,
        "warning": signature_warning(seal.signer),
        "stamp": certificate.banner,
        "claim": claim_text(certificate),
        "guarantee": guarantee(certificate),
        "contribution": terms.contribution.words,
        "adjacency": terms.unit.adjacency,
        "composition": certificate.composition,
        "error": terms.error,
        "assumed_public": list(terms.domain.assumed_public),
        "not_protected": list(terms.not_protected),
        "digest": certificate.digest,
    }


def certificate_page(folder: Path) -> Response:
    """Returns the page of a certificate, in a sandbox.

    Raises:
        ReleaseError: There is none.
    """
    page = read_plain(folder / PAGE, _MOST_BYTES)
    return Response(page, media_type="text/html", headers={"content-security-policy": POLICY})

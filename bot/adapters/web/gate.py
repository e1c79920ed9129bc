"""Who may come in: hosts, origins, the signed cookie that is a learner, and the headers of every answer.

Law: only a page that this server served may open a conversation; a cookie that this server did not sign is nobody's.
"""

import hashlib
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from itsdangerous import BadSignature, Signer

COOKIE = "tasree"
_VERSION = "1"
_SECONDS = 400 * 86_400
"""A browser keeps a cookie for 400 days at most (RFC 6265bis); every visit renews it."""

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class Gate:
    """The checks for one installation.

    `origins` are the addresses under which learners reach the page from elsewhere (`https://learn.example.org`); an
    address by number and `localhost` need no entry, for no stranger's name can stand for them. `names` are further
    hosts, such as the one that the operator told the server to listen at.
    """

    key: bytes
    origins: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def host_allowed(self, host: str) -> bool:
        """Say whether the page may be served under this `Host`; a foreign name that points here is DNS rebinding."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in {"localhost", *self.names, *(urlsplit(origin).hostname for origin in self.origins)}:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def origin_allowed(self, origin: str | None, host: str) -> bool:
        """Say whether a conversation may be opened from there: from this very host, or from an address allowed."""
        if origin is None:
            return False
        if origin in self.origins:
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        return parts.scheme in {"http", "https"} and parts.netloc == host and self.host_allowed(host)

    def sign(self, external: str) -> str:
        """Give the cookie's value for a learner."""
        return self._signer().sign(f"{_VERSION}.{external}").decode()

    def learner(self, value: str | None) -> str | None:
        """Give the learner that a cookie's value names; None when it is missing, forged or of another version."""
        if value is None:
            return None
        try:
            version, _, external = self._signer().unsign(value).decode().partition(".")
        except (BadSignature, UnicodeError):  # a header may hold bytes that are no text
            return None
        return external if version == _VERSION and external else None

    def cookie(self, external: str) -> dict[str, object]:
        """Give the arguments with which an answer sets the cookie."""
        return {
            "name": COOKIE,
            "value": self.sign(external),
            "max_age": _SECONDS,
            "path": "/",
            "httponly": True,
            "samesite": "Strict",
            "secure": any(origin.startswith("https:") for origin in self.origins),
        }

    def _signer(self) -> Signer:
        return Signer(self.key, salt=b"tasree.web.learner", digest_method=hashlib.sha256, key_derivation="hmac")

"""The names that this server is reached by, against pages that have a name of their own point here."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

LOCAL = ("localhost", "127.0.0.1", "[::1]")
_PORT = re.compile(r":[0-9]{0,5}\Z")


@dataclass(frozen=True, slots=True)
class Hosts:
    """Host names in lower case; any port may follow them. An Origin must be a page of one of them."""

    names: frozenset[str]

    @classmethod
    def of(cls, *addresses: str | None) -> "Hosts":
        """The local names, and those of these URLs, host names and IP addresses."""
        return cls(frozenset((*LOCAL, *(_name(a) for a in addresses if a))))

    def fault(self, host: str, origin: str) -> tuple[int, str] | None:
        """The HTTP status and the sentence for a request that did not come here under one of the names."""
        if not self._known(host):
            return 421, "This server is not known by that Host. Nothing was done. LOGMEM_PUBLIC_URL says where it is."
        scheme, _, page = origin.partition("://")
        if origin and not (scheme in ("http", "https") and self._known(page)):
            return 403, "Pages of another origin may not call this. Nothing was done."
        return None

    def _known(self, netloc: str) -> bool:
        return _PORT.sub("", netloc).lower() in self.names


def _name(address: str) -> str:
    netloc = urlsplit(address).netloc if "//" in address else address
    if netloc.count(":") > 1 and "[" not in netloc:
        return f"[{netloc.lower()}]"
    return _PORT.sub("", netloc).lower()

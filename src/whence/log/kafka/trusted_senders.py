"""Trust in the senders of a topic's messages: none, unless Whence signed a message or the operator trusts the
namespace.

Every writer to the topic can write any header. Therefore the collector signs the key of each event that it appends,
with a secret of the installation (`store.security.signing`). A message without a valid signature is only evidence,
except in the namespaces that the address declares trusted (`?trusted=`).
"""

import hmac
from dataclasses import dataclass, field

from whence.model.access import matches_pattern
from whence.openlineage.authority.restrictions import Authority


@dataclass(frozen=True, slots=True)
class Trust:
    """The rules that judge the senders of messages. Without a secret nothing is signed, and no signature is valid."""

    secret: bytes = field(default=b"", repr=False)
    namespaces: tuple[str, ...] = ()
    """Patterns of the namespaces in which every producer of the topic may assert everything."""

    def sign(self, key: bytes) -> bytes:
        """The signature of an event's key; empty without a secret."""
        return hmac.digest(self.secret, key, "sha256") if self.secret else b""

    def is_signed(self, key: bytes, signature: bytes) -> bool:
        """Whether a collector of this installation signed this event's key."""
        return bool(self.secret) and hmac.compare_digest(self.sign(key), signature)

    @property
    def authority(self) -> Authority:
        """The authority of producers that write to the topic directly."""
        return Authority(
            lambda _, namespace: self._is_trusted(namespace), lambda _, namespace: self._is_trusted(namespace)
        )

    def _is_trusted(self, namespace: str) -> bool:
        return any(matches_pattern(pattern, namespace) for pattern in self.namespaces)


NOBODY = Trust()

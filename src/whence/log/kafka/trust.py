"""What a reader of a topic believes of a message's sender: nothing, unless Whence signed it or the operator says so.

Whoever may write to the topic may write any header. So the collector signs the key of each event that it appends, with
a secret of the installation (`store.security.signing`). A message without a sound signature is evidence only, except in
the namespaces for which the topic is declared trusted (`?trusted=`).
"""

import hmac
from dataclasses import dataclass, field

from whence.model.access import fits
from whence.openlineage.authority import Authority


@dataclass(frozen=True, slots=True)
class Trust:
    """How the senders of messages are judged. Without a secret nothing is signed, and no signature is sound."""

    secret: bytes = field(default=b"", repr=False)
    namespaces: tuple[str, ...] = ()
    """Patterns of namespaces in which every producer of the topic may assert everything."""

    def sign(self, key: bytes) -> bytes:
        """The signature of an event's key; empty without a secret."""
        return hmac.digest(self.secret, key, "sha256") if self.secret else b""

    def is_signed(self, key: bytes, signature: bytes) -> bool:
        """Whether a collector of this installation signed this event's key."""
        return bool(self.secret) and hmac.compare_digest(self.sign(key), signature)

    @property
    def authority(self) -> Authority:
        """What producers that write to the topic themselves may assert."""
        return Authority(
            lambda _, namespace: self._is_trusted(namespace), lambda _, namespace: self._is_trusted(namespace)
        )

    def _is_trusted(self, namespace: str) -> bool:
        return any(fits(pattern, namespace) for pattern in self.namespaces)


NOBODY = Trust()

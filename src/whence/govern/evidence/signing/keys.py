"""Keys that sign packs: Ed25519, and ECDSA on P-256 with SHA-256. The only module that imports `cryptography`.

Both signatures are deterministic (RFC 8032, RFC 6979). A key's id is the SHA-256 of its SubjectPublicKeyInfo, which
`openssl pkey -pubin -in KEY.pem -outform DER | sha256sum` prints.
"""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

_P256 = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)


class Algorithm(StrEnum):
    """The algorithm of a key."""

    ED25519 = "ed25519"
    P256 = "p256"


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key, which verifies signatures."""

    key: ed25519.Ed25519PublicKey | ec.EllipticCurvePublicKey

    @classmethod
    def read(cls, pem: bytes) -> Self:
        """Read a key in PEM. Raises ValueError."""
        try:
            found = serialization.load_pem_public_key(pem)
        except (UnsupportedAlgorithm, ValueError) as error:
            raise ValueError(f"it is no public key in PEM: {error}") from None
        if isinstance(found, ed25519.Ed25519PublicKey):
            return cls(found)
        if isinstance(found, ec.EllipticCurvePublicKey) and isinstance(found.curve, ec.SECP256R1):
            return cls(found)
        raise ValueError("it is neither an Ed25519 key nor one of the curve P-256")

    @property
    def algorithm(self) -> Algorithm:
        """Its algorithm."""
        return Algorithm.ED25519 if isinstance(self.key, ed25519.Ed25519PublicKey) else Algorithm.P256

    @property
    def id(self) -> str:
        """Its id, in hexadecimal."""
        public = serialization.PublicFormat.SubjectPublicKeyInfo
        return sha256(self.key.public_bytes(serialization.Encoding.DER, public)).hexdigest()

    @property
    def pem(self) -> bytes:
        """The key in PEM."""
        return self.key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)

    def is_signature(self, signature: bytes, of: bytes) -> bool:
        """Whether the key's owner made a signature of some bytes."""
        try:
            if isinstance(self.key, ed25519.Ed25519PublicKey):
                self.key.verify(signature, of)
            else:
                self.key.verify(signature, of, _P256)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True, repr=False)
class SigningKey:
    """A private key, which signs."""

    key: ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey

    @classmethod
    def generate(cls, algorithm: Algorithm) -> Self:
        """A new key."""
        if algorithm is Algorithm.ED25519:
            return cls(ed25519.Ed25519PrivateKey.generate())
        return cls(ec.generate_private_key(ec.SECP256R1()))

    @classmethod
    def read(cls, pem: bytes) -> Self:
        """Read a key in PEM without a passphrase. Raises ValueError."""
        try:
            found = serialization.load_pem_private_key(pem, None)
        except (UnsupportedAlgorithm, ValueError, TypeError) as error:
            raise ValueError(f"it is no private key in PEM without a passphrase: {error}") from None
        if isinstance(found, ed25519.Ed25519PrivateKey):
            return cls(found)
        if isinstance(found, ec.EllipticCurvePrivateKey) and isinstance(found.curve, ec.SECP256R1):
            return cls(found)
        raise ValueError("it is neither an Ed25519 key nor one of the curve P-256")

    @property
    def public(self) -> PublicKey:
        """Its public half."""
        return PublicKey(self.key.public_key())

    @property
    def pem(self) -> bytes:
        """The key in PEM (PKCS #8), not encrypted."""
        private, none = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        return self.key.private_bytes(serialization.Encoding.PEM, private, none)

    def sign(self, of: bytes) -> bytes:
        """The signature of some bytes; of equal bytes the same."""
        if isinstance(self.key, ed25519.Ed25519PrivateKey):
            return self.key.sign(of)
        return self.key.sign(of, _P256)

"""Digests of formulas that are the same in every version, while queries are read."""

from hashlib import blake2b

from whence.capture.sql.provenance.formulas import COMMUTATIVE, IDEMPOTENT, Formula


class Shapes:
    """Digests of formulas that do not depend on which sources they read, since these are numbered as they are read."""

    def __init__(self) -> None:
        self._known: dict[Formula, bytes] = {}

    def of(self, formula: Formula) -> bytes:
        """The digest of a formula without its sources."""
        if not formula.is_open:
            return formula.digest
        if formula.op == "inst":
            return b""
        found = self._known.get(formula)
        if found is None:
            parts = [self.of(arg) if isinstance(arg, Formula) else repr(arg).encode() for arg in formula.args]
            ordered = sorted(parts) if formula.op in COMMUTATIVE | IDEMPOTENT else parts
            found = self._known[formula] = blake2b(b"\0".join((formula.op.encode(), *ordered)), digest_size=16).digest()
        return found

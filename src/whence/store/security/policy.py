"""The complete access policy, read at once: it is small, and rarely changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from whence.model.access import SCOPES, Action, Grant, Hiding, ReadingRestriction, Viewer
from whence.store.security.api_key_rows import StoredKey, read_keys
from whence.store.security.grants import EVERYBODY, read_grants, read_hidings, read_state
from whence.store.security.restrictions import read_restrictions


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Keys by id, the grants and hidings of each subject, and the columns that policies hide from readers.

    `secret` is the installation's (`query.visibility.graph`).
    """

    revision: int
    secret: bytes
    keys: Mapping[str, StoredKey]
    grants: Mapping[str, tuple[Grant, ...]]
    hidings: Mapping[str, tuple[Hiding, ...]]
    restrictions: tuple[ReadingRestriction, ...] = ()

    def viewer(self, name: str, groups: Sequence[str] = (), scopes: frozenset[Action] = SCOPES) -> Viewer:
        """The viewer with the grants of a subject and its groups."""
        subjects = (name, *(f"group:{group}" for group in groups))
        return Viewer(
            name=name,
            grants=tuple(one for subject in subjects for one in self.grants.get(subject, ())),
            hidings=tuple(one for subject in (EVERYBODY, *subjects) for one in self.hidings.get(subject, ())),
            scopes=scopes,
            restrictions=tuple(one for one in self.restrictions if one.is_for(subjects)),
        )


def read_policy(connection: Connection) -> Policy:
    """The current policy."""
    state = read_state(connection)
    return Policy(
        revision=state.revision,
        secret=state.secret,
        keys={key.id: key for key in read_keys(connection)},
        grants=read_grants(connection),
        hidings=read_hidings(connection),
        restrictions=tuple(read_restrictions(connection)),
    )

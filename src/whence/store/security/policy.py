"""All that says who may do what, read at once: it is small, and changes seldom."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from whence.model.access import SCOPES, Action, Grant, Hiding, Viewer
from whence.store.security.grants import EVERYBODY, read_grants, read_hidings, read_state
from whence.store.security.keys import StoredKey, read_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Keys by id, and what each subject may and may not see. `secret` is the installation's (`query.hiding`)."""

    revision: int
    secret: bytes
    keys: Mapping[str, StoredKey]
    grants: Mapping[str, tuple[Grant, ...]]
    hidings: Mapping[str, tuple[Hiding, ...]]

    def viewer(self, name: str, groups: Sequence[str] = (), scopes: frozenset[Action] = SCOPES) -> Viewer:
        """Somebody, with what they and their groups were granted."""
        subjects = (name, *(f"group:{group}" for group in groups))
        return Viewer(
            name=name,
            grants=tuple(one for subject in subjects for one in self.grants.get(subject, ())),
            hidings=tuple(one for subject in (EVERYBODY, *subjects) for one in self.hidings.get(subject, ())),
            scopes=scopes,
        )


def read_policy(connection: Connection) -> Policy:
    """The policy now."""
    state = read_state(connection)
    return Policy(
        revision=state.revision,
        secret=state.secret,
        keys={one.id: one for one in read_keys(connection)},
        grants=read_grants(connection),
        hidings=read_hidings(connection),
    )

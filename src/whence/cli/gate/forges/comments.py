"""The gate's one comment on a pull request: created when it is needed, then edited, never repeated."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

from whence.cli.gate.forges.forge import Forge, Json, PullRequest
from whence.govern.gate.rendering.markdown import MARKER


@dataclass(frozen=True, slots=True, kw_only=True)
class Comments:
    """The comments of a pull request. `every`: the path of their list; `one`: that of a comment, before its id.

    `edit`: the method that edits; `is_mine`: whether a comment that begins as the gate's do is of the gate's account.
    Each method raises ApiError.
    """

    forge: Forge
    every: str
    one: str
    edit: str
    is_mine: Callable[[Json], bool]

    def write(self, body: str, *, is_needed: bool) -> None:
        """Create the comment if it is needed, or bring it up to date if it is there.

        Two gates that run at once may both create it: then the later one finds both, and one is left.
        """
        mine = self._mine()
        if not mine and is_needed:
            self.forge.send("POST", self.every, {"body": body})
            mine = self._mine()
        if not mine:
            return
        if str(mine[0].get("body")).strip() != body.strip():
            self.forge.send(self.edit, self._path(mine[0]), {"body": body})
        for repeated in mine[1:]:
            self.forge.delete(self._path(repeated))

    def _mine(self) -> list[Json]:
        """The gate's own, the oldest first. Comments of others are never edited, whatever they begin with."""
        found = (one for one in self.forge.all(self.every) if str(one.get("body")).startswith(MARKER))
        return sorted(filter(self.is_mine, found), key=lambda one: int(one["id"]))

    def _path(self, comment: Json) -> str:
        return f"{self.one}/{int(comment['id'])}"


def warn_of_outdated(pull: PullRequest) -> None:
    """Say that a comment stays as it is: the pull request has another head by now, or is merged or closed."""
    sys.stderr.write(f"whence: no comment: {pull.head[:12]} is not the head of {pull.number} now, or it is not open\n")

"""What the gate asks of Git: no network, no hooks, no drivers that the repository configures."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from whence.capture.repository import read_files
from whence.errors import ArtifactError

_SECONDS = 120
_MOST_BRANCHES = 10
SUBMODULE = "160000"
"""The mode of a path at which Git has the commit of another repository."""
_SETTINGS = ("-c", "core.quotePath=false", "-c", "core.fsmonitor=false")


def root_of(folder: Path) -> Path:
    """The root of the checkout around a folder, where the paths of its files begin; of a bare repository, the folder.

    Raises ArtifactError.
    """
    repository = Repository(folder)
    return repository.root() if repository.is_checkout() else folder


@dataclass(frozen=True, slots=True)
class Repository:
    """A checkout. Every method raises ArtifactError with Git's own words."""

    folder: Path

    def is_checkout(self) -> bool:
        """Whether the folder is in a working tree."""
        return self._git("rev-parse", "--is-inside-work-tree").strip() == "true"

    def root(self) -> Path:
        """The root of the working tree."""
        return Path(self._git("rev-parse", "--show-toplevel").removesuffix("\n"))

    def commit(self, ref: str) -> str:
        """The full name of the commit that a ref names."""
        try:
            return self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}").strip()
        except ArtifactError as error:
            raise ArtifactError(error.path, f"{ref} does not exist; {self._branches()}") from None

    def merge_base(self, base: str, head: str) -> str:
        """The commit at which a head left a branch: what it changes is changed since then."""
        commits = self.commit(base), self.commit(head)
        try:
            return self._git("merge-base", *commits).strip()
        except ArtifactError as error:
            shallow = "; a shallow checkout has no merge base: fetch the whole history (fetch-depth: 0)"
            reason = f"{base} and {head} have no commit in common{shallow if self._is_shallow() else ''}"
            raise ArtifactError(error.path, reason) from None

    def changed_files(self, base: str, head: str) -> Mapping[str, str]:
        """The files that differ between two commits, by path; of a renamed one, both paths.

        Each has what identifies its two versions: their modes and the ids of their objects.
        """
        listed = self._git("diff", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "-z", base, head)
        versions_and_paths = listed.split("\0")[:-1]
        return dict(zip(versions_and_paths[1::2], versions_and_paths[::2], strict=True))

    def file_at(self, commit: str, path: str) -> str | None:
        """The text of a file in a commit; None if it has none there."""
        if not self.has(commit, path):
            return None
        return self._git("show", "--no-ext-diff", "--no-textconv", f"{commit}:{path}")

    def has(self, commit: str, path: str) -> bool:
        """Whether a commit has a file or folder. The path begins at the root, wherever in the checkout Git is asked."""
        return bool(self._git("ls-tree", "-z", "--name-only", "--full-tree", commit, "--", path))

    def files_at(self, commit: str, folder: str, suffix: str) -> Mapping[str, str]:
        """The texts of the files below a folder in a commit, by path."""
        return read_files(self.folder, commit, suffix, "" if folder == "." else folder)

    def authors(self, base: str, head: str) -> frozenset[str]:
        """The names and addresses of who wrote and who committed what lies between two commits."""
        text = self._git("log", "--no-show-signature", "--format=%an%n%ae%n%cn%n%ce", head, f"^{base}")
        return frozenset(line for line in text.splitlines() if line)

    def is_merge(self, commit: str) -> bool:
        """Whether a commit has more than one parent."""
        return len(self._git("rev-list", "--parents", "--max-count=1", commit).split()) > 2

    def remote(self) -> str:
        """The address of `origin`; empty if there is none."""
        try:
            return self._git("config", "--get", "remote.origin.url").strip()
        except ArtifactError:
            return ""

    def _branches(self) -> str:
        """The branches that there are, in words, at most `_MOST_BRANCHES` of them."""
        listed = self._git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes").splitlines()
        shown = ", ".join(listed[:_MOST_BRANCHES])
        more = f" and {len(listed) - _MOST_BRANCHES:,} more" if len(listed) > _MOST_BRANCHES else ""
        return f"branches are: {shown}{more}" if listed else "the checkout has no branch"

    def _is_shallow(self) -> bool:
        return self._git("rev-parse", "--is-shallow-repository").strip() == "true"

    def _git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.folder), *_SETTINGS, *arguments]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, stdin=subprocess.DEVNULL)
        except FileNotFoundError:
            raise ArtifactError(str(self.folder), "Git is not installed") from None
        except subprocess.TimeoutExpired:
            raise ArtifactError(str(self.folder), f"`git {arguments[0]}` took more than {_SECONDS} s") from None
        if done.returncode != 0:
            messages = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise ArtifactError(
                str(self.folder), messages[-1] if messages else f"`git {' '.join(arguments)}` found nothing"
            )
        return done.stdout.decode("utf-8", "surrogateescape")

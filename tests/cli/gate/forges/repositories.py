"""The repository at a forge and its clones: real Git, and no network."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.gate.conftest import REMOTE, Checkout


@dataclass(frozen=True)
class Repositories:
    """The forge's repository, and clones: of the author, of a colleague who merges, and of the runner in CI."""

    origin: Checkout
    laptop: Checkout
    colleague: Checkout
    runner: Checkout

    def push(self, files: Mapping[str, str | None], *, ref: str = "refs/heads/work") -> str:
        """The author commits and pushes."""
        commit = self.laptop.commit(files)
        self.laptop.git("push", "-q", "--force", "origin", f"HEAD:{ref}")
        return commit

    def change_main(self, files: Mapping[str, str | None]) -> str:
        """A colleague changes the branch that the request is to join."""
        self.colleague.git("fetch", "-q", "origin")
        self.colleague.git("checkout", "-q", "--detach", "origin/main")
        commit = self.colleague.commit(files, author="Eve <eve@shop.example>")
        self.colleague.git("push", "-q", "origin", "HEAD:refs/heads/main")
        return commit

    def rebase(self) -> str:
        """The author puts their commits on top of main as it is now, and pushes."""
        self.laptop.git("fetch", "-q", "origin")
        self.laptop.git("rebase", "-q", "origin/main")
        self.laptop.git("push", "-q", "--force", "origin", "HEAD:refs/heads/work")
        return self.laptop.git("rev-parse", "HEAD")

    def merge(self, branch: str, ref: str, author: str = "Eve <eve@shop.example>") -> str:
        """Merge a branch into main as it is now, which Git does without a conflict; the merge is at `ref`."""
        self.colleague.git("fetch", "-q", "origin")
        self.colleague.git("checkout", "-q", "--detach", "origin/main")
        self.colleague.git("merge", "-q", "--no-ff", "--no-commit", f"origin/{branch}")
        self.colleague.git("commit", "-q", "-m", "merge", f"--author={author}")
        self.colleague.git("push", "-q", "--force", "origin", f"HEAD:{ref}")
        return self.colleague.git("rev-parse", "HEAD")

    def check_out(self, ref: str, commit: str = "") -> str:
        """What the runner does before the gate: fetch the branches and one ref, and check that out, or a commit."""
        self.runner.git("fetch", "-q", "--prune", "origin", "+refs/heads/*:refs/remotes/origin/*", f"+{ref}:runner")
        self.runner.git("checkout", "-q", "--detach", commit or "runner")
        return self.runner.git("rev-parse", "HEAD")

    def main(self) -> str:
        """The commit of main, as the forge has it."""
        return self.origin.git("rev-parse", "main")

    def has(self, commit: str) -> bool:
        """Whether the forge has a commit."""
        command = ["git", "-C", str(self.origin.folder), "cat-file", "-e", f"{commit}^{{commit}}"]
        return subprocess.run(command, capture_output=True).returncode == 0


def clone_repositories(laptop: Checkout, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Repositories:
    """A forge's repository with what is on a laptop, under the address that the laptop has for it."""
    origin = folder / "origin.git"
    settings = folder / "gitconfig"
    settings.write_text(f'[url "{origin}"]\n\tinsteadOf = {REMOTE}\n[gc]\n\tauto = 0\n', "utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    laptop.git("init", "-q", "--bare", "-b", "main", str(origin))
    laptop.git("push", "-q", "origin", "main", "work")
    for name in ("colleague", "runner"):
        laptop.git("clone", "-q", REMOTE, str(folder / name))
    return Repositories(Checkout(origin), laptop, Checkout(folder / "colleague"), Checkout(folder / "runner"))

"""Git repositories that the demo makes, without the user's hooks and signatures."""

import subprocess
from pathlib import Path

from whence.errors import ArtifactError


def commit(folder: Path, file: str, text: str, message: str, author: str) -> None:
    """Write a file and commit it. `author`: `Name <address>`. Raises ArtifactError if Git is missing or refuses."""
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(text, "utf-8")
    git(folder, "add", file)
    name, _, address = author.rstrip(">").partition(" <")
    git(folder, "-c", f"user.name={name}", "-c", f"user.email={address}", "commit", "-q", "-m", message)


def git(folder: Path, *arguments: str) -> str:
    """The output of Git. Raises ArtifactError if it is missing or refuses."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise ArtifactError(str(folder), "Git is not installed") from None
    if done.returncode:
        raise ArtifactError(str(folder), done.stderr.strip() or f"`git {arguments[0]}` failed")
    return done.stdout

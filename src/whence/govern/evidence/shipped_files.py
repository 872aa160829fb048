"""The files that are the same in each pack: how to verify it, in words and as a script."""

from importlib.resources import files as resources

SHIPPED = ("VERIFY.txt", "verify.sh")


def shipped_file(name: str) -> bytes:
    """One of these files."""
    return (resources("whence.govern.evidence") / "shipped" / name).read_bytes()

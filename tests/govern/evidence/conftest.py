"""The machine of an auditor, who has no Python."""

import shutil
from pathlib import Path

import pytest

TOOLS = ("sh", "jq", "base64", "sha256sum", "openssl", "mktemp", "rm")


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine that has the tools of the script, and nothing else: no Python."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found, f"install {name}"
        (tools / name).symlink_to(found)
    return {"PATH": str(tools)}

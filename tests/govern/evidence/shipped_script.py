"""The script of a pack, as an auditor runs it."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from whence.govern.evidence.shipped_files import shipped_file
from whence.govern.evidence.signing.keys import PublicKey
from whence.govern.evidence.statement import Files


@dataclass(frozen=True)
class Script:
    """The shipped script, a directory to unpack into, and a public key."""

    script: Path
    directory: Path
    key: Path
    environment: dict[str, str]

    def verify(self, files: Files) -> tuple[bool, str]:
        """Whether the script verifies files, and what it prints."""
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir()
        for name, content in files.items():
            (self.directory / name).write_bytes(content)
        return self.run()

    def run(self) -> tuple[bool, str]:
        command = ["sh", str(self.script), str(self.directory), str(self.key)]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        return done.returncode == 0, done.stdout + done.stderr


def script_of(key: PublicKey, base: Path, environment: dict[str, str]) -> Script:
    (base / "key.pem").write_bytes(key.pem)
    (base / "verify.sh").write_bytes(shipped_file("verify.sh"))
    return Script(base / "verify.sh", base / "unpacked", base / "key.pem", environment)

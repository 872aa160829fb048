"""`make bench`: every figure of the README, one after the other, each in a process of its own."""

import os
import subprocess
import sys


def main() -> None:
    """Run all, and print what each prints."""
    sys.stdout.write(f"Whence on {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} at the start\n")
    sys.stdout.flush()
    for name in ("accept", "derive", "serve"):
        subprocess.run([sys.executable, "-m", f"bench.{name}"], check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()

"""`make bench`: every figure of docs/reference/measurements.md in turn, each in its own process; or those named."""

import os
import subprocess
import sys


def main() -> None:
    """Run all or the named ones, and print what each prints."""
    sys.stdout.write(f"Whence on {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} at the start\n")
    sys.stdout.flush()
    for name in sys.argv[1:] or ("accept", "derive", "sustain", "serve"):
        subprocess.run([sys.executable, "-m", f"bench.{name}"], check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()

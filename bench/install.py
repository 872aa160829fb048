"""Installing Whence from its wheels into fresh environments: seconds, megabytes, and the time to import the client."""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
IMPORTS = 20


def build(into: Path) -> None:
    """Build both wheels."""
    for source in (ROOT, ROOT / "client"):
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into)]
        subprocess.run(command, cwd=source, check=True, capture_output=True)


def install(wheels: Path, environment: Path, extra: str) -> tuple[float, float]:
    """Seconds of `pip install` into a fresh environment, and megabytes of what it added."""
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    before = megabytes(environment)
    (wheel,) = wheels.glob("whence_lineage-[0-9]*.whl")
    pip, options = environment / "bin/pip", ("-q", "--disable-pip-version-check", "--find-links", wheels)
    started = time.perf_counter()
    subprocess.run([pip, "install", *options, f"{wheel}{extra}"], check=True)
    return time.perf_counter() - started, megabytes(environment) - before


def megabytes(directory: Path) -> float:
    """What a directory holds."""
    return sum(one.lstat().st_size for one in directory.rglob("*") if one.is_file()) / 1e6


def import_milliseconds(environment: Path) -> float:
    """The median of importing the client, without the interpreter's own start."""
    modules = "whence_client, whence_client.outbox, whence_client.spark"
    timed = f"import time; a = time.perf_counter(); import {modules}; print((time.perf_counter() - a) * 1000)"
    runs = [subprocess.check_output([environment / "bin/python", "-c", timed]) for _ in range(IMPORTS)]
    return median(map(float, runs))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3, help="installs of each; the median is printed")
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as directory:
        base = Path(directory)
        build(base / "wheels")
        (client,) = (base / "wheels").glob("whence_client-*.whl")
        sys.stdout.write(f"client's wheel {client.stat().st_size / 1000:9.1f} kB\n")
        for name, extra in (("whence", ""), ("whence[server]", "[server]")):
            done = [install(base / "wheels", base / f"{name}-{number}", extra) for number in range(times)]
            seconds, size = median(one for one, _ in done), done[0][1]
            sys.stdout.write(f"{name:14s} {seconds:9.1f} s {size:9.1f} MB\n")
        milliseconds = import_milliseconds(base / "whence-0")
        sys.stdout.write(f"import whence_client {milliseconds:.1f} ms\n")


if __name__ == "__main__":
    main()

"""Errors of the machine: packages, addresses, Java and Spark."""

from dataclasses import dataclass

from whence.errors.root import WhenceError


@dataclass(eq=False)
class NotInstalledError(WhenceError):
    """A package that this needs is not installed. `command` installs it."""

    package: str
    command: str

    def __str__(self) -> str:
        return f"this needs {self.package}, which is not installed: {self.command}"


@dataclass(eq=False)
class AddressError(WhenceError):
    """Nothing can listen at this address."""

    host: str
    port: int
    reason: str

    def __str__(self) -> str:
        return f"cannot listen at {self.host}:{self.port}: {self.reason}; choose another with --port or --host"


class JavaNotFoundError(WhenceError):
    """No Java that Spark can run on."""


@dataclass(eq=False)
class SparkStartError(WhenceError):
    """Spark's JVM ended, or could not be reached in time."""

    reason: str

    def __str__(self) -> str:
        return f"{self.reason}; its output is above. Frequent causes are a full disk and too little memory"


class SparkEndedError(WhenceError):
    """Spark's JVM ended while it was needed, or its session was stopped."""

    def __str__(self) -> str:
        return "Spark's JVM ended, or its session was stopped; Spark's own output is above. Start again"


@dataclass(eq=False)
class JarsNotFoundError(WhenceError):
    """Java libraries (`group:name:version`) are neither here nor can they be fetched."""

    coordinates: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        listed = ", ".join(self.coordinates)
        return f"cannot fetch {listed} from Maven Central; put them into the directory jars of pyspark: {self.reason}"

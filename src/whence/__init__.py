"""Whence: ask where any number came from, and what breaks if it changes."""

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version  # 25 ms that a command need not wait for

        return version("whence")
    raise AttributeError(name)

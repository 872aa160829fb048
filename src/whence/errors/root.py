"""The root of all errors that Whence raises on purpose."""


class WhenceError(Exception):
    """The root: `except WhenceError` catches all that Whence raises on purpose."""

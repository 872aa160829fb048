"""The Python API for questions, `whence.connect(url, key)`. It needs neither Spark nor the packages of a server.

The work of the API belongs in `whence.api`, the output of a terminal in `whence.cli`.
"""

"""The Python API for questions, `whence.connect(url, key)`: it needs neither Spark nor the packages of a server.

What the API itself does belongs into `whence.api`, what a terminal shows into `whence.cli`.
"""

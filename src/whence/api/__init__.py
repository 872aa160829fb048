"""The HTTP API: accepts events and answers questions. It contains no logic of its own, and only it uses FastAPI."""

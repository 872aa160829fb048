"""Answers as JSON documents and as rows, the same for API, CLI and files."""

"""Statements that move data: INSERT, MERGE, UPDATE, CREATE, COPY, cursors, variables."""

"""Answers of the API as typed values, each a table of rows for terminals, notebooks and data frames."""

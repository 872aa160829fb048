"""Answers about sensitive columns and the data of a person."""

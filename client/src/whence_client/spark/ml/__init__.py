"""Spark ML: which columns a model was fitted on, where it is saved, and which columns it computed."""

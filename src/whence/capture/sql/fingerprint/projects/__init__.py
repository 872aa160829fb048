"""The files of a project in two versions: read in order, and compared."""

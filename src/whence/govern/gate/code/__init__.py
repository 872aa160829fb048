"""Changes of job code that is not read as SQL: by where the code is, and by what a run of it reports."""

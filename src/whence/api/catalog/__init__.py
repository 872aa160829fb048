"""The routes of datasets, jobs and runs, and of the facts that people assert about them."""

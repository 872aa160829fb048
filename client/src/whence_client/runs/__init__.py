"""The Python API: runs and jobs that the code itself declares, and notebooks."""

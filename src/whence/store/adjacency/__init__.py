"""The edges as arrays in a file (compressed sparse rows): its format, its build, its cache, and the changes laid over
it.
"""

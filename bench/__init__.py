"""Measurements of Whence, each from one run on the machine at hand: `make bench`."""

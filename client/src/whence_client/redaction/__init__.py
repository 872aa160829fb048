"""Secrets in events: their shapes, and how they are masked before anything leaves the process, and again by Whence."""

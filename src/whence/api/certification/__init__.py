"""Routes of certification, and badges of datasets."""

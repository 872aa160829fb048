"""`whence certification`: files of rules, and the certification of datasets."""

"""`whence alert`: files of receivers, and notifications on trial."""

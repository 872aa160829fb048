"""Opening a store: engines, migrations, locks, encryption keys, and maintenance of the database files."""

"""dbt's `target/` directory as values: manifest, catalog, run results, names, warehouse."""

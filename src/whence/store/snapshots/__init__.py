"""One read transaction behind the ports that questions use: the lineage graph and the catalog."""

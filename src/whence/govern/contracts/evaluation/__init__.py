"""Whether data fulfil their contracts: the evaluation of columns, quality rules and service levels, and its answers."""

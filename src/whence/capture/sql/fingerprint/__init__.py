"""The meaning of queries: formulas of columns, signatures of row sets, and what changed between two versions."""

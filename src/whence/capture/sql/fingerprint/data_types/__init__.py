"""The types of columns, read from the syntax tree beside their formulas: what a formula leaves out may decide one."""

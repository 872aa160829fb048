"""What an expression shows of columns: how much of their values, and its normal form."""

"""The vocabulary of a plan: rows, expressions, measures, and the columns of the answer."""

"""From whole numbers to an answer: which noise, which groups, which columns, and how far off they may be."""

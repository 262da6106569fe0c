"""Indistinct: answers questions about people without giving any of them away."""

"""What runs a plan over the data, and the one statement that it runs."""

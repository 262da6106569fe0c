"""From the text of a question to its plan: node by node, and what is not understood is refused."""

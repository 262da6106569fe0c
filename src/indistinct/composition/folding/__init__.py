"""A few uses of losses whose transforms do not decay: outcome by outcome."""

"""Floor 3: what is particular to each agent program."""

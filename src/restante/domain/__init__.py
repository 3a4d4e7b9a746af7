"""Floor 0: pure values and rules. No input or output, no clock, standard library only."""

"""Floor 3: the outside, one adapter per port."""

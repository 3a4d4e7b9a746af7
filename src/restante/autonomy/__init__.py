"""Floor 1: a receiver's policy as pure functions. Empty until verified intake arrives."""

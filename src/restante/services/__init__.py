"""Floor 3: one use case a file, over ports; no input or output of their own, strangers to each other."""

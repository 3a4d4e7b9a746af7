"""Floor 6: thin and strangers to each other: parse, call one thing of the office, render."""

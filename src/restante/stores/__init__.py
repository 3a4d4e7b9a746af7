"""Floor 3: one room per format; every one passes tests/contract/."""

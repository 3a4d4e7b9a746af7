"""A mailbox for coding agents."""

"""The worktree home: the Markdown files of ``.codex-mailbox/``, shared byte for byte with the original program.

``grammar`` finds blocks in text, ``blocks`` turns them into domain values, ``render`` writes them.
"""

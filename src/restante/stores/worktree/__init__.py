"""The worktree home: the Markdown files of ``.codex-mailbox/``, shared byte for byte with the original program.

From bytes to a mailbox, each step on those above it::

    bytes     stream (only what is new of a file that grows)
    blocks    outline, starts (where blocks begin), fields, body, handwritten (what is in one), grammar (text to blocks)
    values    words, numbers, blocks (blocks to values), marks, render (values to bytes)
    book      book (messages, and what was said of them), ledger (the files, read into it), index, shelf, changes
    mailbox   desk (what both sides work with), posting (the human side), answering (the agent's side), archive, store

Writing goes through ``lock`` (one writer at a time, durably; by ``spare`` cheaply, again and again) and ``record``
(mends what a killed one left). Beside the files: ``locate`` and ``layout`` (where all is), ``bell``, ``notebook`` (what
sessions were shown), ``repeats`` over ``automations`` (STATE.json), ``checks`` (for the doctor).
"""

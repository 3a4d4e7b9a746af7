"""The screen for people who live in a terminal: ``restante tui``, on the library Textual.

``app`` is the program, ``ground`` and ``around`` all that it asks of the public API, ``plain`` how texts of others
become lines of a screen, ``texts`` every word, ``base`` what every screen does, ``asking`` what lies over one.
``overview``, ``mailbox``, ``compose``, ``approvals``, ``picture``, ``repeats``, ``monitors`` and ``options`` are one
screen each. A screen decides nothing: what comes first, and the steps of a message, are the domain's, as for the page
in the browser.
"""

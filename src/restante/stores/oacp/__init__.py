"""The OACP tree: signed YAML messages in a shared directory, byte-compatible with the programs that own the format.

From bytes to a mailbox: ``trailer`` splits off a signature, ``reading`` turns YAML into text fields, ``validating``
tells what is wrong with them, ``rendering`` goes the other way; ``names`` has their forms. ``quick`` reads what
programs write without YAML, which comes from ``library``. ``directory`` and ``layout`` find places without following a
link; ``posting``, ``threads``, ``index``, ``archive`` and ``watching`` do what the format's programs do; ``room``
compares an inbox with the ``book`` of what we remember, ``bookfile`` keeps that, ``following`` tells what happened, and
``store`` is the port.
"""

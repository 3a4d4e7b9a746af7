"""The OACP tree: signed YAML messages in a shared directory, byte-compatible with the programs that own the format.

From bytes to a mailbox: ``trailer`` splits off a signature, ``reading`` turns YAML into text fields, ``validating``
tells what is wrong with them, ``rendering`` goes the other way; ``names`` makes ids and file names.
"""

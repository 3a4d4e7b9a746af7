"""Whose mail this is: signatures of OACP 0.5.3, the keys that make them, and whose keys a receiver believes.

``encoding``, ``jose``: a signature's text, in its one spelling. ``jwk``, ``keys``: key pairs and where they lie.
``pins``, ``catalog``, ``trust``: whose keys count, for whom. ``policy``: a receiver's own files under signature.
``verifying``: what a message proves; ``desk``: the same with everything that one receiver has decided.
The library for Ed25519 is loaded only when a signature is really made or checked.
"""

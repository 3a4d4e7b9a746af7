"""Floor 1: a receiver's policy as pure functions: message, policy, history and instant in, audit record out.

Evaluation, gate by gate: ``evaluate`` calls ``integrity``, ``profile``, ``threads`` (with ``grants``), ``axes``,
``hard_stops`` (with ``lexicon``, ``demotion``, ``negation``), ``strict`` (with ``strict_lexicon``) and ``checkpoint``
(with ``actuals``, ``reauthorization``), and ``verdict`` and ``record`` put together what they say. ``policy`` is what
the receiver allows.

A record's life: ``outcome`` (what a person decided), ``finalize`` (with ``measuring``, ``terminal``, ``workclock``,
``editing``), ``succession`` (evaluated again), ``findings`` (with ``record_checks``: what is wrong with records).
``envelope`` is what a running task may do. For people: ``offers`` (what can be done with a message) and ``wording``.
Shared words and values: ``vocabulary``, ``instants``, ``bounded``.

What needs YAML takes a ``load`` from its caller. Audit records are dicts in the key order of their format.
"""

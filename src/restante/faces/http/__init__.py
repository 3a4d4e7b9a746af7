"""The HTTP API of the session inbox (extra ``serve``): ``restante serve``.

One route table makes the routing, the OpenAPI document and the reference page (``table``). A request passes the guards,
becomes one job for the exchange (``worker``), one after the other, and many jobs share one commit. Whoever waits is
parked (``waits``) and holds nothing up. Mail counts as seen only once its reader took it
(``handover``).
"""

"""The HTTP API of the session inbox (extra ``serve``): ``restante serve``.

One route table makes the routing, the OpenAPI document and the reference page (``table``). A request passes the guards,
becomes one job of the one thread that asks the exchange (``worker``), and many jobs share one commit. Whoever waits
is parked in the event loop (``waits``), never in that thread. Mail counts as seen only once its reader took it
(``handover``).
"""

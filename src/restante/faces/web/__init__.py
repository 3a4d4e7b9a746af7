"""The page for people: server-rendered HTML on the server of ``restante serve``, live through SSE, no build step.

``app`` has the routes, ``hub`` says what a page needs of the server it stands on, ``entering`` how a browser proves to
be the person, ``rendering`` how texts become HTML: through escaping templates and nothing else. Every other module is
one page. A page asks one thing of the exchange, the office, the roster or the vigil, and decides nothing.
"""

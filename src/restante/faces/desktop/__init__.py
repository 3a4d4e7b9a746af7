"""The page for people in a window of its own: ``restante desktop``, on the library Qt for Python (PySide6).

``program`` begins and ends, ``window`` is what is seen, ``browsing`` the part of it that shows pages, ``rules`` where
that may go, ``ground`` all that is asked of Restante, ``watching`` the thread that counts unseen mail, ``memory`` what
is kept for the next time, ``texts`` every word. The page gets nothing from the window but a click on one link, which
the window answers itself: no object of ours is within reach of a script.
"""

"""``python -m restante`` and the launcher's entry."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    import gc

    # Starting makes thousands of objects that all stay: looking through them for garbage finds none.
    gc.set_threshold(100_000)
    import sys

    if sys.argv[1:2] == ["oacp"]:
        from restante.faces.oacp import main as oacp_main

        oacp_main(sys.argv[2:])
    if sys.argv[1:] == ["mcp"]:
        # A program waits for it before it asks its model anything.
        from restante.faces.mcp import main as mcp_main

        mcp_main()
    from restante.faces.cli import main as cli_main

    cli_main()


if __name__ == "__main__":
    main()

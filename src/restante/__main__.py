"""``python -m restante`` and the launcher's entry."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from restante.faces.cli import main as cli_main

    cli_main()


if __name__ == "__main__":
    main()

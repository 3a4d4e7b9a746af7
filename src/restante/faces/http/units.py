"""Unit files with which systemd or launchd keep a server running for a person."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LABEL = "restante.serve"


def systemd_unit(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return a unit for ``systemctl --user``: systemd.service(5), systemd.exec(5)."""
    settings = "".join(
        f"Environment={_systemd_word(f'{name}={value}')}\n" for name, value in sorted(_settings(environment).items())
    )
    return (
        "# Save as ~/.config/systemd/user/restante.service, then: systemctl --user enable --now restante\n"
        "[Unit]\nDescription=Restante: mail between agent sessions\n\n"
        f"[Service]\nExecStart={' '.join(map(_systemd_word, command))}\n{settings}"
        "Restart=on-failure\nRestartSec=2\nTimeoutStopSec=15\nUMask=0077\nNoNewPrivileges=yes\n"
        "LimitNOFILE=16384\n\n[Install]\nWantedBy=default.target\n"
    )


def launchd_plist(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return a property list for ``launchctl bootstrap``: launchd.plist(5)."""
    words = "".join(f"    <string>{escape(word)}</string>\n" for word in command)
    settings = "".join(
        f"    <key>{escape(name)}</key><string>{escape(value)}</string>\n"
        for name, value in sorted(_settings(environment).items())
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'
        f"<!-- Save as ~/Library/LaunchAgents/{LABEL}.plist, then:\n"
        f"     launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/{LABEL}.plist -->\n"
        f'<plist version="1.0">\n<dict>\n  <key>Label</key><string>{LABEL}</string>\n'
        f"  <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n"
        f"  <key>EnvironmentVariables</key>\n  <dict>\n{settings}  </dict>\n"
        "  <key>RunAtLoad</key><true/>\n  <key>KeepAlive</key>\n  <dict><key>SuccessfulExit</key><false/></dict>\n"
        "  <key>Umask</key><integer>63</integer>\n</dict>\n</plist>\n"
    )


def _settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what makes another process find the same places; a database's URL may hold a password, and stays out."""
    wanted = ("HOME", "RESTANTE_CONFIG", "RESTANTE_DATA", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    return {name: os.path.abspath(environment[name]) for name in wanted if environment.get(name)}


def _systemd_word(word: str) -> str:
    """Return a word quoted so that neither specifiers nor variables nor blanks in it mean anything."""
    quoted = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$").replace("\n", "\\n")
    return f'"{quoted}"'

"""On what kind of filesystem a path is, as far as that decides how SQLite may write there."""

from __future__ import annotations

import os
import re

# WAL needs memory that all openers of a file share; these cannot give it to openers on two machines (or on two
# sides of a virtual one), and some break it for openers on one. https://sqlite.org/wal.html, section 1.
_SHARED = {"nfs", "nfs4", "9p", "virtiofs", "cifs", "smb", "smb2", "smb3", "smbfs", "afs", "ncpfs", "ceph", "lustre"}
_SHARED |= {"gfs2", "ocfs2", "vboxsf", "vmhgfs", "prl_fs", "fuse", "fuseblk"}


def fs_type(path: str) -> str:
    """Return the type of the filesystem that a path is on, or would be; empty where the system does not say."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as file:
            mounts = [line.split(" ")[1:3] for line in file]
    except OSError:
        return ""
    real = os.path.realpath(path)
    found, longest = "", -1
    for point, kind in mounts:
        at = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), point)
        # A later mount on the same point hides the earlier one.
        if (at in {"/", real} or real.startswith(at + "/")) and len(at) >= longest:
            found, longest = kind, len(at)
    return found


def is_shared(kind: str) -> bool:
    """Whether a type of filesystem may be shared between machines, so that WAL must not be used on it."""
    return kind in _SHARED or kind.startswith("fuse.")

"""The one error tree.

    RestanteError                 code                 exit  http
    ├── UsageError                usage                2     400   the request itself is malformed
    │   ├── BadAddress            bad_address          2     400
    │   ├── BadText               bad_text             2     400   text that cannot be stored as UTF-8
    │   └── BadConfig             bad_config           2     400   every fault of a configuration at once
    ├── NothingThere              nothing_there        3     404
    │   ├── NoSuchMessage         no_such_message      3     404
    │   ├── NoWorktree            no_worktree          3     404
    │   ├── NoSuchSession         no_such_session      3     404   unknown, ambiguous, or somebody else's
    │   └── MailboxDeleted        mailbox_deleted      3     410
    ├── Refused                   refused              4     409   understood, and not done
    │   ├── TooLarge              too_large            4     413
    │   ├── MailboxFull           mailbox_full         4     409
    │   ├── Unauthorized          unauthorized         4     401   no proof of who asks, or a wrong one
    │   ├── Forbidden             forbidden            4     403   proven, and not allowed
    │   ├── RoleHeld              role_held            4     409   the role is another session's
    │   ├── SessionBusy           session_busy         4     409   all places to wait are taken
    │   ├── PersistenceOff        persistence_off      4     409   nowhere to keep a session's mail
    │   ├── Screened              screened             4     422   a finding blocks the post
    │   ├── IllegalStep           illegal_step         4     409   the lifecycle has no such step
    │   ├── Conflict              conflict             4     409   same client id, other content
    │   ├── Unsafe                unsafe               4     403   a path that leads out of its place
    │   └── Unreadable            unreadable           4     422   a file we will not guess about
    ├── Unreachable               unreachable          1     502   the server does not answer, or not as it should
    ├── StorageFailed             storage_failed       1     507   disk full, read-only, permission
    │   └── Damaged               damaged              1     500   what is stored cannot be understood
    ├── Busy                      busy                 5     503   a lock was not free in time
    │   └── RateLimited           rate_limited         5     429   too many requests; ``retry_after`` says when
    └── TimedOut                  timed_out            5     504   nothing came in the time given

``code`` is stable and meant for programs; ``exit_code`` is what a command ends with; ``http_status``
is what a server answers. The text names the input, ``remedy`` says what to do about it.
"""

from __future__ import annotations


class RestanteError(Exception):
    """Any error that Restante raises on purpose.

    Args:
        message: What went wrong, naming the input.
        remedy: What the reader can do about it; empty when nothing sensible can be said.
        details: The same for programs, for example one entry for each finding of a screening.
    """

    code = "error"
    exit_code = 1
    http_status = 500

    def __init__(self, message: str, *, remedy: str = "", details: tuple[dict[str, str | int], ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.details = details


class UsageError(RestanteError):
    """The request is malformed; sending it again unchanged cannot work."""

    code = "usage"
    exit_code = 2
    http_status = 400


class BadAddress(UsageError):
    """A mailbox address that no form of address matches."""

    code = "bad_address"


class BadText(UsageError):
    """Text that cannot be kept byte for byte, for example a lone surrogate."""

    code = "bad_text"


class BadConfig(UsageError):
    """A configuration with faults; ``problems`` holds all of them.

    Args:
        problems: One sentence for each fault.
        source: Where they all are; empty where each sentence says it itself.
    """

    code = "bad_config"

    def __init__(self, problems: tuple[str, ...], *, source: str = "") -> None:
        text = "; ".join(problems)
        super().__init__(f"{source}: {text}" if source else text, remedy="correct or remove what is named")
        self.problems = problems


class NothingThere(RestanteError):
    """What was asked for does not exist."""

    code = "nothing_there"
    exit_code = 3
    http_status = 404


class NoSuchMessage(NothingThere):
    """No message has this id, or more than one begins or ends like it."""

    code = "no_such_message"


class NoWorktree(NothingThere):
    """The directory does not belong to a worktree."""

    code = "no_worktree"


class NoSuchSession(NothingThere):
    """No session of the caller's owner has this id or name, or more than one has. A foreign one is an unknown one."""

    code = "no_such_session"


class MailboxDeleted(NothingThere):
    """The message was posted once; its mailbox has been deleted since."""

    code = "mailbox_deleted"
    http_status = 410


class Refused(RestanteError):
    """Understood, and not done."""

    code = "refused"
    exit_code = 4
    http_status = 409


class TooLarge(Refused):
    """A text over its limit; sizes are in UTF-8 bytes."""

    code = "too_large"
    http_status = 413


class MailboxFull(Refused):
    """The mailbox holds as much pending mail as it may; nothing is dropped to make room."""

    code = "mailbox_full"


class Unauthorized(Refused):
    """Who asks was not proven, or the proof is wrong."""

    code = "unauthorized"
    http_status = 401


class Forbidden(Refused):
    """Who asks is known, and may not do this."""

    code = "forbidden"
    http_status = 403


class RoleHeld(Refused):
    """A role that another session holds, or that the caller holds no longer; nothing was changed."""

    code = "role_held"


class SessionBusy(Refused):
    """As many wait for this session's mail as may."""

    code = "session_busy"


class PersistenceOff(Refused):
    """The mail of sessions is not kept on disk, and no server runs that could hold it."""

    code = "persistence_off"


class Screened(Refused):
    """Screening found something in the text that the sender must decide about."""

    code = "screened"
    http_status = 422


class IllegalStep(Refused):
    """The lifecycle has no step for this event in this state; nothing was changed."""

    code = "illegal_step"


class Conflict(Refused):
    """The same client id came with another content."""

    code = "conflict"


class Unsafe(Refused):
    """A path that is a symbolic link, or leads out of the place it must stay in."""

    code = "unsafe"
    http_status = 403


class Unreadable(Refused):
    """A file that exists but is not what it should be; it was left as it is."""

    code = "unreadable"
    http_status = 422


class Unreachable(RestanteError):
    """The server cannot be reached, or something else answers at its address."""

    code = "unreachable"
    http_status = 502


class StorageFailed(RestanteError):
    """The disk refused: full, read-only, or no permission. Nothing was half written."""

    code = "storage_failed"
    exit_code = 1
    http_status = 507


class Damaged(StorageFailed):
    """What is stored cannot be understood."""

    code = "damaged"
    http_status = 500


class Busy(RestanteError):
    """Another process held a lock for longer than we were willing to wait."""

    code = "busy"
    exit_code = 5
    http_status = 503


class RateLimited(Busy):
    """Too many requests of one caller.

    Args:
        message: Which limit.
        retry_after: Seconds after which asking again makes sense.
    """

    code = "rate_limited"
    http_status = 429

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message, remedy=f"try again in {retry_after} s")
        self.retry_after = retry_after


class TimedOut(RestanteError):
    """Nothing came in the time given."""

    code = "timed_out"
    exit_code = 5
    http_status = 504

"""THE route table. Routing, the OpenAPI document and docs/reference/http.md are made of it: none can lack a route."""

from __future__ import annotations

from restante.domain.lifecycle import Show
from restante.faces.http import (
    answers,
    events,
    explaining,
    inbox,
    letters,
    managing,
    requests,
    sessions,
    watching,
    withdrawing,
)
from restante.faces.http.role_table import ROLE_ROUTES
from restante.faces.http.routes import FLAG, ID, NUMBER, POSITIVE, TEXT, Parameter, Route

PREFIX = "/api/v1"

_SESSION = Parameter("id", ID, "a session: its id, its name, or a beginning of at least 8 characters", "path")
_WAIT = Parameter("wait", POSITIVE, "milliseconds to wait while there is nothing; held to 1000 .. 600000")
_INBOX = Parameter("inbox", FLAG, "1: with the numbers of mailboxes")
_WATCH = (
    Parameter("since", TEXT, "cursor of an earlier answer; empty for all there is"),
    Parameter("sessions", TEXT, "only these, by whole ids, with commas; at most 64"),
    _WAIT,
)
_DETACH = (
    Parameter("detach", FLAG, "1: only detach it, its mail stays"),
    Parameter("killMux", {"type": "string", "enum": ["true", "false"]}, "false: the same"),
)
_READ = (
    _SESSION,
    Parameter("wait", POSITIVE, "milliseconds to wait while nothing is unseen; held to 1000 .. 600000"),
    Parameter("after", NUMBER, "only messages with a greater number"),
    Parameter("limit", POSITIVE, "at most so many messages"),
    Parameter("peek", FLAG, "1: mark nothing seen, although the addressee reads"),
)
_TIMELINE = (
    _SESSION,
    Parameter("before", NUMBER, "only messages with a smaller number; 0 for the newest"),
    Parameter("limit", {"type": "integer", "minimum": 1, "maximum": letters.MOST}, "at most so many"),
    Parameter("show", {"type": "string", "enum": [one.value for one in Show]}, "which of them"),
)
_RECEIPTS = (
    Parameter("ids", TEXT, "only these messages, with commas; at most 200"),
    Parameter("limit", {"type": "integer", "minimum": 1, "maximum": 1000}, "at most so many"),
)
_POSTED = Parameter("message", ID, "whole id of a message that the caller posted", "path")
_ASKED = Parameter(
    "message", ID, "id of a message that the caller posted or is to answer, or a part that only it has", "path"
)
_UNTIL = (
    _SESSION,
    Parameter("until", TEXT, f"what to wait for, with commas: {', '.join(watching.SIGNALS)}"),
    Parameter("timeout", POSITIVE, "milliseconds to wait; held to 1000 .. 600000; 60000 by default"),
    Parameter("wait", POSITIVE, "the same"),
    Parameter("fresh", FLAG, "1: only what becomes true from now on"),
)
_EVENTS = (
    Parameter("Last-Event-ID", TEXT, "id of the last event; what came after it is told first", "header"),
    Parameter("since", TEXT, "the same"),
)
_ACCOUNT = Parameter("name", ID, "an account", "path")

_UNKNOWN = (404,)
_CHANGE = (403, 404)

ROUTES: tuple[Route, ...] = (
    Route("GET", "/sessions", sessions.listed, "List the owner's sessions", answers.Sessions, (400,), None, (_INBOX,)),
    Route(
        "POST",
        "/sessions",
        sessions.register,
        "Register a session, or attach it again under its id",
        answers.OneSession,
        (400, 403, 404),
        requests.RegisterBody,
    ),
    Route(
        "GET", "/sessions/{id}", sessions.one, "Tell one session", answers.State, (400, 404), None, (_SESSION, _INBOX)
    ),
    Route(
        "PATCH",
        "/sessions/{id}",
        sessions.describe,
        "Change what is known of a session",
        answers.OneSession,
        (400, *_CHANGE),
        requests.DescribeBody,
        (_SESSION,),
    ),
    Route(
        "DELETE",
        "/sessions/{id}",
        sessions.delete,
        "End a session for good, with its mail; or only detach it",
        answers.OneSession,
        (400, *_CHANGE),
        None,
        (_SESSION, *_DETACH),
    ),
    Route(
        "POST",
        "/sessions/{id}/detach",
        sessions.detach,
        "Record that a session's process ended; its mail stays",
        answers.OneSession,
        _CHANGE,
        None,
        (_SESSION,),
    ),
    Route(
        "POST",
        "/sessions/{id}/turn",
        sessions.turn,
        "Record that a turn of a session began or ended",
        answers.OneSession,
        (400, *_CHANGE),
        requests.TurnBody,
        (_SESSION,),
    ),
    Route(
        "GET",
        "/sessions/{id}/wait",
        watching.wait,
        "Wait until something is true of a session; 400 for what never can be",
        answers.Waited,
        (400, 404),
        None,
        _UNTIL,
    ),
    Route(
        "POST",
        "/sessions/{id}/inbox",
        inbox.post,
        "Post to a session; a repeated clientMessageId answers with the stored message",
        answers.Handed,
        (400, 404, 409, 422),
        requests.PostBody,
        (_SESSION,),
    ),
    Route(
        "GET",
        "/sessions/{id}/inbox",
        inbox.read,
        "Read pending mail, the oldest first; seen once the addressee took the answer whole",
        answers.Reading,
        (400, 404, 409),
        None,
        _READ,
    ),
    Route(
        "GET",
        "/sessions/{id}/timeline",
        letters.timeline,
        "Look back into a mailbox, the newest first, with what became of each; for its session and a person",
        answers.Timeline,
        (400, 403, 404, 409),
        None,
        _TIMELINE,
    ),
    Route(
        "POST",
        "/sessions/{id}/inbox/seen",
        inbox.seen,
        "Say that the addressee was given messages whole, after a read with peek=1",
        answers.Counts,
        (400, 403, 404, 409),
        requests.SeenBody,
        (_SESSION,),
    ),
    Route(
        "POST",
        "/sessions/{id}/inbox/ack",
        inbox.acknowledge,
        "Acknowledge messages; one that is gone already is a success",
        answers.Cleared,
        (400, 403, 404, 409),
        requests.AckBody,
        (_SESSION,),
    ),
    Route(
        "GET",
        "/receipts",
        inbox.receipts,
        "Tell what became of what the caller posted: states and times, no text",
        answers.Receipts,
        (400, 409),
        None,
        _RECEIPTS,
    ),
    Route(
        "POST",
        "/receipts/{message}/withdraw",
        withdrawing.withdraw,
        "Take back what the caller posted, before it was acknowledged; the caller must be proven",
        answers.Trace,
        (403, 404, 409),
        None,
        (_POSTED,),
    ),
    Route(
        "GET",
        "/messages/{message}/why",
        explaining.why,
        "Say in one sentence why a message was not answered, with the evidence and the command that helps next",
        answers.Explanation,
        (400, 404),
        None,
        (_ASKED,),
    ),
    *ROLE_ROUTES,
    Route("GET", "/inbox/summary", sessions.summary, "Tell the numbers of the owner's mailboxes", answers.Summary),
    Route("GET", "/agent-inbox/summary", sessions.summary, "The same", answers.Summary),
    Route(
        "GET",
        "/watch",
        watching.watch,
        "Tell every session that changed since a cursor",
        answers.Watched,
        (400,),
        None,
        _WATCH,
    ),
    Route(
        "GET",
        "/agent-watch",
        watching.agent_watch,
        "The same in the older shape: only sessions that deserve a look",
        answers.Ended,
        (400,),
        None,
        _WATCH,
    ),
    Route(
        "GET",
        "/events",
        events.events,
        "Send session:updated, session:deleted, inbox:changed and sse:heartbeat as they happen",
        None,
        (400,),
        None,
        _EVENTS,
        "text/event-stream",
    ),
    Route("GET", "/whoami", sessions.identity, "Tell the caller who it was taken for", answers.Identity),
    *(
        Route("GET", path, managing.persistence, summary, answers.Persistence)
        for path, summary in (
            ("/settings/persistence", "Tell whether the mail of sessions is kept on disk"),
            ("/persistence", "The same"),
        )
    ),
    *(
        Route(
            "PUT",
            path,
            managing.set_persistence,
            "Switch it: off deletes what was kept; a person's token is needed",
            answers.Persistence,
            (400, 403, 409),
            requests.PersistenceBody,
        )
        for path in ("/settings/persistence", "/persistence")
    ),
    Route("GET", "/accounts", managing.accounts, "List the accounts; the person's token", answers.Accounts, (403,)),
    Route(
        "POST",
        "/accounts",
        managing.add_account,
        "Add an account; from the first one on, every request needs an owner",
        answers.Account,
        (400, 403, 409),
        requests.AccountBody,
    ),
    Route(
        "DELETE",
        "/accounts/{name}",
        managing.delete_account,
        "Delete an account; its sessions stay, shut out, or end for good with their mail",
        answers.Dismissed,
        (400, *_CHANGE),
        None,
        (_ACCOUNT, Parameter("sessions", FLAG, "1: end its sessions, also where the account is gone already")),
    ),
    Route("GET", "/health", managing.health, "Say that the server lives; needs no proof", answers.Health),
    Route(
        "GET",
        "/metrics",
        managing.metrics,
        "Tell the server's numbers as Prometheus text; where there are accounts, the person's token",
        None,
        (403,),
        media="text/plain; version=0.0.4; charset=utf-8",
    ),
    Route("GET", "/openapi.json", managing.openapi, "This document", None, media="application/json"),
)

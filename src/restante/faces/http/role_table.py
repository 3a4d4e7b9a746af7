"""The routes of teams and roles; part of THE route table."""

from __future__ import annotations

from restante.faces.http import answers, requests, role_answers, roles
from restante.faces.http.routes import FLAG, ID, NUMBER, POSITIVE, TEXT, Parameter, Route

_TEAM = Parameter("team", ID, "a team", "path")
_ROLE = Parameter("role", ID, "a role of it", "path")
_OR_ALL = Parameter("role", ID, "a role of it, or * for all", "path")
_IDS = Parameter("ids", TEXT, "whole ids of messages, with commas; at most 200")
_LIMIT = Parameter("limit", POSITIVE, "at most so many messages")
_ONE = (_TEAM, _ROLE)
_PATH = "/teams/{team}/{role}"

_LOOK = (400, 404)
_CHANGE = (400, 403, 404, 409)

ROLE_ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/teams",
        roles.listed,
        "List the roles of a team, or of all teams, with who holds each",
        role_answers.Seats,
        _LOOK,
        None,
        (Parameter("team", TEXT, "only of this team"),),
    ),
    Route(
        "GET",
        "/roles/mail",
        roles.mail,
        "Tell the pending mail of all roles that the caller holds; marks nothing",
        role_answers.RoleReadings,
        (400,),
        None,
        (_LIMIT,),
    ),
    Route(
        "GET",
        "/roles/places",
        roles.places,
        "Tell in which of the caller's roles messages are",
        role_answers.Places,
        (400, 409),
        None,
        (_IDS, Parameter("refuse", FLAG, "1: refuse where one is mail of a role that the caller does not hold")),
    ),
    Route("GET", _PATH, roles.one, "Tell one role", role_answers.Seat, _LOOK, None, _ONE),
    Route(
        "POST",
        f"{_PATH}/join",
        roles.join,
        "Make a role a member of its team; a session also takes it, both or nothing",
        role_answers.Seat,
        _CHANGE,
        requests.JoinBody,
        _ONE,
    ),
    Route(
        "POST",
        f"{_PATH}/leave",
        roles.leave,
        "Take a role out of its team; its mail stays",
        role_answers.Left,
        _CHANGE,
        None,
        _ONE,
    ),
    Route(
        "POST",
        f"{_PATH}/act-as",
        roles.act_as,
        "Let the calling session hold a role that is free; it must be proven",
        role_answers.Seat,
        _CHANGE,
        None,
        _ONE,
    ),
    Route(
        "POST",
        f"{_PATH}/drop",
        roles.drop,
        "Let go of a role: one's own, or as the person whoever's",
        role_answers.Dropped,
        _CHANGE,
        None,
        _ONE,
    ),
    Route(
        "POST",
        f"{_PATH}/inbox",
        roles.post,
        "Post to a role, or to all roles of a team but the caller's own: a copy for each",
        role_answers.Copies,
        (400, 404, 409, 422),
        requests.PostBody,
        (_TEAM, _OR_ALL),
    ),
    Route(
        "GET",
        f"{_PATH}/inbox",
        roles.read,
        "Read the pending mail of a role: its holder, or a person as a look; marks nothing",
        role_answers.RoleReading,
        _CHANGE,
        None,
        (*_ONE, Parameter("after", NUMBER, "only messages with a greater number"), _LIMIT),
    ),
    Route(
        "POST",
        f"{_PATH}/inbox/seen",
        roles.seen,
        "Say that the holder was given messages whole",
        answers.Counts,
        _CHANGE,
        requests.SeenBody,
        _ONE,
    ),
    Route(
        "POST",
        f"{_PATH}/inbox/ack",
        roles.acknowledge,
        "Acknowledge messages of a role; one that is gone already is a success",
        answers.Cleared,
        _CHANGE,
        requests.AckBody,
        _ONE,
    ),
    Route(
        "GET",
        f"{_PATH}/tally",
        roles.tally,
        "Tell how many messages of a role are queued, noticed, seen and acknowledged",
        role_answers.Tally,
        _LOOK,
        None,
        _ONE,
    ),
    Route(
        "GET",
        f"{_PATH}/history",
        roles.history,
        "Tell what was posted to a role, or to a whole team, and what became of it",
        role_answers.History,
        (400, 403, 404),
        None,
        (_TEAM, _OR_ALL, Parameter("limit", {**POSITIVE, "maximum": 1000}, "at most so many, the newest")),
    ),
)

-- Sessions, their mail, and whose both are.

ALTER TABLE mailboxes ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE mailboxes ADD COLUMN event INTEGER NOT NULL DEFAULT 0;

CREATE INDEX mailboxes_of_owners ON mailboxes (owner, event);

-- A client id is its sender's own.
DROP INDEX messages_of_clients;

CREATE UNIQUE INDEX messages_of_clients ON messages (mailbox, client_id, sender) WHERE client_id IS NOT NULL;

DROP INDEX messages_pending;

CREATE INDEX messages_pending ON messages (mailbox, number, closed, expires_ms, unseen, created_ms, body_bytes, sender)
    WHERE closed = '';

ALTER TABLE messages ADD COLUMN owner TEXT NOT NULL DEFAULT '';

CREATE INDEX messages_of_senders ON messages (owner, sender, id);

ALTER TABLE deleted ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE deleted ADD COLUMN sender TEXT NOT NULL DEFAULT '';
ALTER TABLE deleted ADD COLUMN created_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deleted ADD COLUMN closed TEXT NOT NULL DEFAULT '';
ALTER TABLE deleted ADD COLUMN closed_ms INTEGER;
ALTER TABLE deleted ADD COLUMN decision TEXT;
ALTER TABLE deleted ADD COLUMN action TEXT;

CREATE INDEX deleted_of_senders ON deleted (owner, sender, id);

CREATE TABLE counters (
    name TEXT NOT NULL PRIMARY KEY,
    tag TEXT NOT NULL,
    last INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    place INTEGER NOT NULL,
    event INTEGER NOT NULL,
    vendor TEXT NOT NULL,
    name TEXT NOT NULL,
    worktree TEXT NOT NULL,
    parent TEXT NOT NULL,
    host TEXT,
    pid INTEGER,
    started TEXT,
    secret_digest TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    heartbeat_ms INTEGER NOT NULL,
    detached_ms INTEGER,
    turn INTEGER NOT NULL,
    turn_ended_ms INTEGER,
    turn_source TEXT,
    blocked TEXT NOT NULL,
    open_todos INTEGER NOT NULL,
    total_todos INTEGER NOT NULL,
    parked_since_ms INTEGER,
    parked_until_ms INTEGER
);

CREATE INDEX sessions_of_owners ON sessions (owner, event);

CREATE INDEX sessions_by_name ON sessions (owner, name);

CREATE INDEX sessions_by_secret ON sessions (secret_digest) WHERE secret_digest <> '';

CREATE TABLE ended (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    event INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL,
    PRIMARY KEY (owner, id)
) WITHOUT ROWID;

CREATE INDEX ended_of_owners ON ended (owner, event);

CREATE TABLE settings (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE accounts (
    name TEXT NOT NULL PRIMARY KEY,
    password TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) WITHOUT ROWID;

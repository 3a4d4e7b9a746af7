-- One SQLite file, any number of mailboxes. Times are milliseconds since 1970 in UTC; bodies are UTF-8 bytes.
-- A database that holds exactly this has PRAGMA user_version = 1; migrations/ leads there step by step.

-- A row is never deleted: its counters are what makes numbers only ever grow.
CREATE TABLE mailboxes (
    id INTEGER PRIMARY KEY,
    address TEXT NOT NULL UNIQUE,
    tag TEXT NOT NULL,
    last_number INTEGER NOT NULL,
    last_change INTEGER NOT NULL,
    total INTEGER NOT NULL
);

-- closed is empty while a message is pending, then says how it left: acknowledged, withdrawn, expired.
-- unseen is 1 until its addressee read it or said anything of it.
CREATE TABLE messages (
    mailbox INTEGER NOT NULL REFERENCES mailboxes (id),
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    posted_change INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    noticed_ms INTEGER,
    noticed_by TEXT,
    seen_ms INTEGER,
    seen_by TEXT,
    unseen INTEGER NOT NULL,
    withdrawn_ms INTEGER,
    closed TEXT NOT NULL,
    priority TEXT NOT NULL,
    scope TEXT NOT NULL,
    type TEXT NOT NULL,
    sender TEXT NOT NULL,
    sender_verified INTEGER NOT NULL,
    client_id TEXT,
    subject TEXT NOT NULL,
    conversation TEXT NOT NULL,
    parent TEXT NOT NULL,
    body_bytes INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (mailbox, number),
    UNIQUE (mailbox, id)
);

CREATE UNIQUE INDEX messages_of_clients ON messages (mailbox, client_id) WHERE client_id IS NOT NULL;

-- What waits, with all that counting needs: its cost does not grow with history.
CREATE INDEX messages_pending ON messages (mailbox, number, closed, expires_ms, unseen, created_ms, body_bytes)
    WHERE closed = '';

CREATE INDEX messages_expiring ON messages (mailbox, expires_ms)
    WHERE closed = '' AND expires_ms IS NOT NULL;

-- Everything that happened, in order. message_id stays readable without the message.
CREATE TABLE changes (
    mailbox INTEGER NOT NULL REFERENCES mailboxes (id),
    change INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    number INTEGER,
    message_id TEXT NOT NULL,
    PRIMARY KEY (mailbox, change)
) WITHOUT ROWID;

-- change is the place in changes, and so the order in which they were given.
CREATE TABLE receipts (
    mailbox INTEGER NOT NULL,
    change INTEGER NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    seen_ms INTEGER NOT NULL,
    decision TEXT,
    action TEXT,
    summary TEXT NOT NULL,
    notes TEXT NOT NULL,
    reader TEXT NOT NULL,
    PRIMARY KEY (mailbox, change),
    FOREIGN KEY (mailbox, number) REFERENCES messages (mailbox, number)
);

CREATE INDEX receipts_of_message ON receipts (mailbox, number, change);

CREATE TABLE replies (
    mailbox INTEGER NOT NULL,
    change INTEGER NOT NULL,
    number INTEGER,
    id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    sender TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (mailbox, change),
    FOREIGN KEY (mailbox, number) REFERENCES messages (mailbox, number)
);

CREATE INDEX replies_to_message ON replies (mailbox, message_id);

-- What one session was shown of one mailbox; held = its end was held up for this message once.
CREATE TABLE shown (
    mailbox INTEGER NOT NULL REFERENCES mailboxes (id),
    session TEXT NOT NULL,
    message_id TEXT NOT NULL,
    shown_ms INTEGER,
    held INTEGER NOT NULL,
    PRIMARY KEY (mailbox, session, message_id)
) WITHOUT ROWID;

-- The ids of deleted messages, so that a sender can still learn what became of them.
CREATE TABLE deleted (
    mailbox INTEGER NOT NULL REFERENCES mailboxes (id),
    id TEXT NOT NULL,
    deleted_ms INTEGER NOT NULL,
    PRIMARY KEY (mailbox, id)
) WITHOUT ROWID;

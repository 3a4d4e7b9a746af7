-- One SQLite file, any number of mailboxes. Times are milliseconds since 1970 in UTC; bodies are UTF-8 bytes.
-- A database that holds exactly this has PRAGMA user_version = 3; migrations/ leads there step by step.
-- Texts are compared byte by byte: ids are asked for by ranges.

-- Numbers that only ever grow, each under its name: sessions:<owner> and mail:<owner> number what happened there.
-- The tag tells the cursors of a lost database from those of the one that was made anew.
CREATE TABLE counters (
    name TEXT NOT NULL PRIMARY KEY,
    tag TEXT NOT NULL,
    last INTEGER NOT NULL
) WITHOUT ROWID;

-- A row is never deleted: its counters are what makes numbers only ever grow.
-- event is the number, in the owner's counter, of what happened here last.
CREATE TABLE mailboxes (
    id INTEGER PRIMARY KEY,
    address TEXT NOT NULL UNIQUE,
    tag TEXT NOT NULL,
    last_number INTEGER NOT NULL,
    last_change INTEGER NOT NULL,
    total INTEGER NOT NULL,
    owner TEXT NOT NULL DEFAULT '',
    event INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX mailboxes_of_owners ON mailboxes (owner, event);

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
    owner TEXT NOT NULL DEFAULT '',
    UNIQUE (mailbox, number),
    UNIQUE (mailbox, id)
);

-- A client id is its sender's own.
CREATE UNIQUE INDEX messages_of_clients ON messages (mailbox, client_id, sender) WHERE client_id IS NOT NULL;

-- Ids sort by time: what a sender posted anywhere, the newest first, without what others posted.
CREATE INDEX messages_of_senders ON messages (owner, sender, id);

-- What waits, with all that counting needs: its cost does not grow with history.
CREATE INDEX messages_pending ON messages (mailbox, number, closed, expires_ms, unseen, created_ms, body_bytes, sender)
    WHERE closed = '';

CREATE INDEX messages_expiring ON messages (mailbox, expires_ms)
    WHERE closed = '' AND expires_ms IS NOT NULL;

-- What left without a word: few, so that the others can be counted by taking them away.
CREATE INDEX messages_lost ON messages (mailbox, closed) WHERE closed <> '' AND closed <> 'acknowledged';

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
-- closed is how a message had left before its mailbox was deleted; empty when it was still pending then.
CREATE TABLE deleted (
    mailbox INTEGER NOT NULL REFERENCES mailboxes (id),
    id TEXT NOT NULL,
    deleted_ms INTEGER NOT NULL,
    owner TEXT NOT NULL DEFAULT '',
    sender TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL DEFAULT 0,
    closed TEXT NOT NULL DEFAULT '',
    closed_ms INTEGER,
    decision TEXT,
    action TEXT,
    PRIMARY KEY (mailbox, id)
) WITHOUT ROWID;

CREATE INDEX deleted_of_senders ON deleted (owner, sender, id);

-- The sessions there are. place is their order, event the number of a session's last change in its owner's counter.
-- A secret is never kept, only what tells the right one from a wrong one.
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

-- The ids of deleted sessions, for who watches them.
CREATE TABLE ended (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    event INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL,
    PRIMARY KEY (owner, id)
) WITHOUT ROWID;

CREATE INDEX ended_of_owners ON ended (owner, event);

-- What a person decided.
CREATE TABLE settings (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- Who may ask in multi-user mode; the password as its hash alone.
CREATE TABLE accounts (
    name TEXT NOT NULL PRIMARY KEY,
    password TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) WITHOUT ROWID;

-- The roles of teams, and who holds each: one session at a time. generation only ever grows, and fences who held it
-- before. A role that was left keeps its row, and so its generation; its mail stays in its mailbox.
CREATE TABLE members (
    owner TEXT NOT NULL,
    role TEXT NOT NULL,
    joined_ms INTEGER NOT NULL,
    worktree TEXT NOT NULL,
    vendor TEXT NOT NULL,
    generation INTEGER NOT NULL,
    session TEXT NOT NULL,
    host TEXT,
    pid INTEGER,
    started TEXT,
    taken_ms INTEGER,
    beat_ms INTEGER,
    ttl_ms INTEGER NOT NULL,
    left_ms INTEGER,
    PRIMARY KEY (owner, role)
) WITHOUT ROWID;

CREATE INDEX members_of_sessions ON members (session) WHERE session <> '';

-- What watches a mailbox for a session. record is JSON: the state machine of domain.monitor writes it whole.
CREATE TABLE monitors (
    owner TEXT NOT NULL,
    mailbox TEXT NOT NULL,
    session TEXT NOT NULL,
    state TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (owner, mailbox)
) WITHOUT ROWID;

CREATE INDEX monitors_of_sessions ON monitors (session);

-- Who wants to be woken once, by the first message of an action and a key that says one of the states (a JSON list).
CREATE TABLE subscriptions (
    id TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    mailbox TEXT NOT NULL,
    action TEXT NOT NULL,
    correlation TEXT NOT NULL,
    states TEXT NOT NULL,
    session TEXT NOT NULL,
    report_only INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    reports_expiry INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX subscriptions_of_mailboxes ON subscriptions (owner, mailbox, action, correlation);

CREATE INDEX subscriptions_expiring ON subscriptions (expires_ms);

-- What a message says of an action, for whoever subscribed to it: never its text.
CREATE TABLE signals (
    mailbox INTEGER NOT NULL REFERENCES mailboxes (id),
    number INTEGER NOT NULL,
    action TEXT NOT NULL,
    correlation TEXT NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (mailbox, number)
) WITHOUT ROWID;

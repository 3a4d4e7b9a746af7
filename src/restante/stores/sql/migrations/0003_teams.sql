-- Teams, who holds which role of them, what watches a mailbox, and what waits for one event.

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

CREATE TABLE monitors (
    owner TEXT NOT NULL,
    mailbox TEXT NOT NULL,
    session TEXT NOT NULL,
    state TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (owner, mailbox)
) WITHOUT ROWID;

CREATE INDEX monitors_of_sessions ON monitors (session);

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

-- What left without a word: few, so that the others can be counted by taking them away.
CREATE INDEX messages_lost ON messages (mailbox, closed) WHERE closed <> '' AND closed <> 'acknowledged';

-- The statements of the SQL home, each under its name. They are written in the SQL that SQLite and PostgreSQL share;
-- parameters are :named. {message}, {receipt} and {reply} stand for the column lists below, which rows.py reads by place.

-- columns: message
number, id, posted_change, created_ms, expires_ms, noticed_ms, seen_ms, withdrawn_ms, closed, priority, scope, type,
sender, sender_verified, client_id, subject, conversation, parent, body;

-- columns: receipt
r.change, r.number, r.id, r.message_id, r.seen_ms, r.decision, r.action, r.summary, r.notes, r.reader;

-- columns: reply
change, id, message_id, created_ms, sender, body;

-- columns: word
(
    SELECT MAX(r.seen_ms) FROM receipts AS r WHERE r.mailbox = m.mailbox AND r.number = m.number
        AND (r.decision IS NOT NULL OR r.action IS NOT NULL)
);

-- columns: decision
(
    SELECT r.decision FROM receipts AS r
    WHERE r.mailbox = m.mailbox AND r.number = m.number AND r.decision IS NOT NULL ORDER BY r.change DESC LIMIT 1
);

-- columns: action
(
    SELECT r.action FROM receipts AS r
    WHERE r.mailbox = m.mailbox AND r.number = m.number AND r.action IS NOT NULL ORDER BY r.change DESC LIMIT 1
);

-- columns: session
id, owner, event, vendor, name, worktree, parent, host, pid, started, created_ms, heartbeat_ms, detached_ms, turn,
turn_ended_ms, turn_source, blocked, open_todos, total_todos, parked_since_ms, parked_until_ms;

-- columns: member
role, joined_ms, worktree, vendor, generation, session, host, pid, started, taken_ms, beat_ms, ttl_ms;

-- columns: waits
(m.expires_ms IS NULL OR m.expires_ms > :now);

-- columns: subscription
id, mailbox, owner, action, correlation, states, session, report_only, created_ms, expires_ms, reports_expiry;

-- name: box
-- The counters of one mailbox, and when the first of what waits there expires; a foreign one is none. A writer holds
-- the lock on them until it commits.
SELECT id, tag, last_number, last_change, total, (
    SELECT MIN(m.expires_ms) FROM messages AS m
    WHERE m.mailbox = mailboxes.id AND m.closed = '' AND m.expires_ms IS NOT NULL
) FROM mailboxes WHERE address = :address AND owner = :owner;

-- name: add_box
-- Begin a mailbox; one that is there already stays, unless it is a foreign one that was deleted.
INSERT INTO mailboxes (address, tag, last_number, last_change, total, owner, event)
VALUES (:address, :tag, 0, 0, 0, :owner, 0)
ON CONFLICT (address) DO UPDATE SET owner = excluded.owner, tag = excluded.tag
WHERE mailboxes.total = 0 AND mailboxes.owner <> excluded.owner;

-- name: settle_box
-- Keep the counters, and under which number of its owner's something happened here.
UPDATE mailboxes SET last_number = :number, last_change = :change, total = :total,
    event = (SELECT c.last FROM counters AS c WHERE c.name = :counter)
WHERE id = :box;

-- name: bump_counter
-- Number something that happened.
UPDATE counters SET last = last + 1 WHERE name = :name;

-- name: add_counter
-- Begin to number; numbers that were begun stay.
INSERT INTO counters (name, tag, last) VALUES (:name, :tag, :last) ON CONFLICT (name) DO NOTHING;

-- name: counter
-- The last number given, and the tag of the numbers.
SELECT tag, last FROM counters WHERE name = :name;

-- name: add_message
-- Store a message.
INSERT INTO messages (
    mailbox, number, id, posted_change, created_ms, expires_ms, unseen, closed, priority, scope, type, sender,
    sender_verified, client_id, subject, conversation, parent, body_bytes, body, owner
) VALUES (
    :box, :number, :id, :change, :created_ms, :expires_ms, 1, '', :priority, :scope, :type, :sender, :sender_verified,
    :client_id, :subject, :conversation, :parent, :body_bytes, :body, :owner
);

-- name: add_change
-- Tell of something that happened.
INSERT INTO changes (mailbox, change, kind, at_ms, number, message_id)
VALUES (:box, :change, :kind, :at_ms, :number, :message_id);

-- name: add_receipt
-- Store a receipt.
INSERT INTO receipts (mailbox, change, number, id, message_id, seen_ms, decision, action, summary, notes, reader)
VALUES (:box, :change, :number, :id, :message_id, :seen_ms, :decision, :action, :summary, :notes, :reader);

-- name: add_reply
-- Store a reply.
INSERT INTO replies (mailbox, change, number, id, message_id, created_ms, sender, body)
VALUES (:box, :change, :number, :id, :message_id, :created_ms, :sender, :body);

-- name: message
-- One message.
SELECT {message} FROM messages WHERE mailbox = :box AND id = :id;

-- name: message_of_client
-- The message that a sender posted under its own name for it.
SELECT {message} FROM messages WHERE mailbox = :box AND client_id = :client_id AND sender = :sender;

-- name: messages
-- Messages, history included, in order.
SELECT {message} FROM messages WHERE mailbox = :box AND number > :after ORDER BY number LIMIT :most;

-- name: ids
-- The ids of all messages, in order.
SELECT id FROM messages WHERE mailbox = :box ORDER BY number;

-- name: pending
-- Messages that wait for their addressee's word, in order. What has expired is left out before a writer swept it, too:
-- judged by :now, and what is old enough also by :latest, a later time that was seen before the clock was set back.
SELECT {message} FROM messages
WHERE mailbox = :box AND closed = '' AND number > :after
    AND (expires_ms IS NULL OR expires_ms > CASE WHEN number <= :known THEN :latest ELSE :now END)
ORDER BY number LIMIT :most;

-- name: messages_between
-- The messages of a range of numbers, for telling of their posting.
SELECT {message} FROM messages WHERE mailbox = :box AND number BETWEEN :low AND :high ORDER BY number;

-- name: receipts_between
-- The receipts of a range of messages.
SELECT {receipt} FROM receipts AS r WHERE r.mailbox = :box AND r.number BETWEEN :low AND :high
ORDER BY r.number, r.change;

-- name: receipts_of_pending
-- The receipts of the pending ones of a range of messages: bare ones, so there are few.
SELECT {receipt} FROM receipts AS r
WHERE r.mailbox = :box AND r.number IN (
    SELECT number FROM messages WHERE mailbox = :box AND closed = '' AND number BETWEEN :low AND :high
)
ORDER BY r.number, r.change;

-- name: receipts_told
-- The receipts of a range of changes.
SELECT {receipt} FROM receipts AS r WHERE r.mailbox = :box AND r.change BETWEEN :low AND :high;

-- name: newest_receipt
-- The last word on a message.
SELECT {receipt} FROM receipts AS r WHERE r.mailbox = :box AND r.number = :number ORDER BY r.change DESC LIMIT 1;

-- name: replies
-- All replies, in order.
SELECT {reply} FROM replies WHERE mailbox = :box ORDER BY change;

-- name: replies_to
-- The replies to one message, in order.
SELECT {reply} FROM replies WHERE mailbox = :box AND message_id = :message_id ORDER BY change;

-- name: replies_told
-- The replies of a range of changes.
SELECT {reply} FROM replies WHERE mailbox = :box AND change BETWEEN :low AND :high;

-- name: counts
-- The numbers of what waits, from the index of pending messages alone.
SELECT COUNT(*), COUNT(CASE WHEN unseen = 1 THEN 1 END), MIN(CASE WHEN unseen = 1 THEN created_ms END)
FROM messages WHERE mailbox = :box AND closed = ''
    AND (expires_ms IS NULL OR expires_ms > CASE WHEN number <= :known THEN :latest ELSE :now END);

-- name: room
-- What takes room: how many wait, their bytes, and the same of one sender's; from the index of pending messages alone.
SELECT COUNT(*), COALESCE(SUM(body_bytes), 0), COUNT(CASE WHEN sender = :sender THEN 1 END),
    COALESCE(SUM(CASE WHEN sender = :sender THEN body_bytes END), 0)
FROM messages WHERE mailbox = :box AND closed = ''
    AND (expires_ms IS NULL OR expires_ms > CASE WHEN number <= :known THEN :latest ELSE :now END);

-- name: expiring
-- Messages that no writer has closed yet and whose time is over by then, in the order they expire.
SELECT number, id, expires_ms, posted_change FROM messages
WHERE mailbox = :box AND closed = '' AND expires_ms IS NOT NULL AND expires_ms <= :latest ORDER BY expires_ms, number;

-- name: close_message
-- Record how a message left pending.
UPDATE messages SET closed = :how, withdrawn_ms = :withdrawn_ms WHERE mailbox = :box AND number = :number;

-- name: mark_heard
-- Record that its addressee said something of a message.
UPDATE messages SET unseen = 0 WHERE mailbox = :box AND number = :number AND unseen = 1;

-- name: mark_noticed
-- Record that a checkpoint showed a message; the first time counts.
UPDATE messages SET noticed_ms = :at_ms, noticed_by = :reader
WHERE mailbox = :box AND number = :number AND noticed_ms IS NULL;

-- name: mark_seen
-- Record that its addressee read a message; the first time counts.
UPDATE messages SET seen_ms = :at_ms, seen_by = :reader, unseen = 0
WHERE mailbox = :box AND number = :number AND seen_ms IS NULL;

-- name: changes
-- What happened after a place in the log; for an expiry also when the message was posted.
SELECT c.change, c.kind, c.at_ms, c.number, c.message_id, m.posted_change
FROM changes AS c
LEFT JOIN messages AS m ON c.kind = 'expired' AND m.mailbox = c.mailbox AND m.number = c.number
WHERE c.mailbox = :box AND c.change > :after ORDER BY c.change LIMIT :most;

-- name: shown
-- What a session was shown.
SELECT message_id, shown_ms, held FROM shown WHERE mailbox = :box AND session = :session;

-- name: keep_shown
-- Remember that a session was shown a message.
INSERT INTO shown (mailbox, session, message_id, shown_ms, held)
VALUES (:box, :session, :message_id, :shown_ms, :held)
ON CONFLICT (mailbox, session, message_id) DO UPDATE SET shown_ms = excluded.shown_ms, held = excluded.held;

-- name: drop_shown
-- Forget that a session was shown a message.
DELETE FROM shown WHERE mailbox = :box AND session = :session AND message_id = :message_id;

-- name: tear_out
-- Forget all that a session was shown.
DELETE FROM shown WHERE mailbox = :box AND session = :session;

-- name: was_deleted
-- When a message was deleted with its mailbox.
SELECT deleted_ms FROM deleted WHERE mailbox = :box AND id = :id AND owner = :owner;

-- name: keep_ids
-- Keep the ids of what is about to be deleted, and what had become of it.
INSERT INTO deleted (mailbox, id, deleted_ms, owner, sender, created_ms, closed, closed_ms, decision, action)
SELECT m.mailbox, m.id, :now, m.owner, m.sender, m.created_ms, m.closed,
    CASE m.closed WHEN 'withdrawn' THEN m.withdrawn_ms WHEN 'expired' THEN m.expires_ms WHEN 'acknowledged' THEN {word} END,
    {decision}, {action}
FROM messages AS m WHERE m.mailbox = :box;

-- name: delete_shown
-- Delete what sessions were shown of a mailbox.
DELETE FROM shown WHERE mailbox = :box;

-- name: delete_changes
-- Delete the log of a mailbox.
DELETE FROM changes WHERE mailbox = :box;

-- name: delete_receipts
-- Delete the receipts of a mailbox.
DELETE FROM receipts WHERE mailbox = :box;

-- name: delete_replies
-- Delete the replies of a mailbox.
DELETE FROM replies WHERE mailbox = :box;

-- name: delete_signals
-- Delete what the messages of a mailbox said of actions.
DELETE FROM signals WHERE mailbox = :box;

-- name: delete_messages
-- Delete the messages of a mailbox; its counters stay.
DELETE FROM messages WHERE mailbox = :box;

-- name: counts_of_owner
-- The numbers of all mailboxes of an owner, from indexes alone.
SELECT b.address, b.total, b.last_number, COUNT(m.number), COUNT(CASE WHEN m.unseen = 1 THEN 1 END),
    MIN(CASE WHEN m.unseen = 1 THEN m.created_ms END)
FROM mailboxes AS b
LEFT JOIN messages AS m ON m.mailbox = b.id AND m.closed = '' AND (m.expires_ms IS NULL OR m.expires_ms > :now)
WHERE b.owner = :owner GROUP BY b.id, b.address, b.total, b.last_number;

-- name: debts
-- Who has pending mail in which mailboxes of an owner.
SELECT DISTINCT m.sender, b.address FROM mailboxes AS b
JOIN messages AS m ON m.mailbox = b.id AND m.closed = '' AND (m.expires_ms IS NULL OR m.expires_ms > :now)
WHERE b.owner = :owner;

-- name: flows
-- Who posted how much to which mailboxes of an owner from an id on: ids sort by time, so older mail is not looked at.
SELECT m.sender, b.address, count(*),
    count(CASE WHEN m.closed = '' AND (m.expires_ms IS NULL OR m.expires_ms > :now) THEN 1 END)
FROM mailboxes AS b JOIN messages AS m ON m.mailbox = b.id AND m.id >= :first
WHERE b.owner = :owner GROUP BY m.sender, b.address;

-- name: owners_of_boxes
-- Whose mailboxes there are.
SELECT DISTINCT owner FROM mailboxes ORDER BY owner;

-- name: debts_of_box
-- Who has pending mail in one mailbox.
SELECT DISTINCT sender FROM messages WHERE mailbox = :box AND closed = ''
    AND (expires_ms IS NULL OR expires_ms > CASE WHEN number <= :known THEN :latest ELSE :now END);

-- name: boxes_changed
-- The mailboxes of an owner where something happened after an event, in that order.
SELECT address FROM mailboxes WHERE owner = :owner AND event > :event ORDER BY event;

-- name: boxes_expiring
-- The mailboxes of an owner where something expired that no writer has closed yet.
SELECT b.address FROM mailboxes AS b WHERE b.owner = :owner AND EXISTS (
    SELECT 1 FROM messages AS m
    WHERE m.mailbox = b.id AND m.closed = '' AND m.expires_ms IS NOT NULL AND m.expires_ms <= :now
);

-- columns: trace
m.id, b.address, m.created_ms, m.expires_ms, m.seen_ms, m.withdrawn_ms, m.closed, {word}, {decision}, {action},
(SELECT MIN(r.seen_ms) FROM receipts AS r WHERE r.mailbox = m.mailbox AND r.number = m.number);

-- name: traces
-- What became of what a sender posted, the newest first. As a range of addresses PostgreSQL knows that nearly all are
-- of sessions, and reads the newest alone.
SELECT {trace} FROM messages AS m JOIN mailboxes AS b ON b.id = m.mailbox
WHERE m.owner = :owner AND m.sender = :sender AND b.address >= 'session:' AND b.address < 'session<'
ORDER BY m.id DESC LIMIT :most;

-- name: traces_of_roles
-- The same of what was posted to no session.
SELECT {trace} FROM messages AS m JOIN mailboxes AS b ON b.id = m.mailbox
WHERE m.owner = :owner AND m.sender = :sender AND (b.address < 'session:' OR b.address >= 'session<')
ORDER BY m.id DESC LIMIT :most;

-- name: trace
-- What became of one message that a sender posted.
SELECT {trace} FROM messages AS m JOIN mailboxes AS b ON b.id = m.mailbox
WHERE m.owner = :owner AND m.sender = :sender AND m.id = :id;

-- name: traces_of_deleted
-- What became of what a sender posted to mailboxes that were deleted, the newest first.
SELECT m.id, b.address, m.created_ms, m.deleted_ms, m.closed, m.closed_ms, m.decision, m.action
FROM deleted AS m JOIN mailboxes AS b ON b.id = m.mailbox
WHERE m.owner = :owner AND m.sender = :sender AND b.address >= 'session:' AND b.address < 'session<'
ORDER BY m.id DESC LIMIT :most;

-- name: traces_of_deleted_roles
-- The same of mailboxes that are no session's.
SELECT m.id, b.address, m.created_ms, m.deleted_ms, m.closed, m.closed_ms, m.decision, m.action
FROM deleted AS m JOIN mailboxes AS b ON b.id = m.mailbox
WHERE m.owner = :owner AND m.sender = :sender AND (b.address < 'session:' OR b.address >= 'session<')
ORDER BY m.id DESC LIMIT :most;

-- name: trace_of_deleted
-- What became of one message that a sender posted to a mailbox that was deleted.
SELECT m.id, b.address, m.created_ms, m.deleted_ms, m.closed, m.closed_ms, m.decision, m.action
FROM deleted AS m JOIN mailboxes AS b ON b.id = m.mailbox
WHERE m.owner = :owner AND m.sender = :sender AND m.id = :id;

-- name: session
-- One session, whoever owns it. A writer holds the lock on it until it commits.
SELECT {session} FROM sessions WHERE id = :id;

-- name: secret_of
-- What tells the right secret of a session.
SELECT secret_digest FROM sessions WHERE id = :id;

-- name: sessions_named
-- An owner's sessions of this name, or with an id that begins so; :beyond sorts after everything that does.
SELECT {session} FROM sessions
WHERE owner = :owner AND (name = :reference OR (id >= :reference AND id < :beyond)) ORDER BY place;

-- name: session_proven
-- The session whose secret has this digest.
SELECT {session} FROM sessions WHERE secret_digest = :digest AND secret_digest <> '';

-- name: sessions
-- An owner's sessions, in the order they were registered.
SELECT {session} FROM sessions WHERE owner = :owner ORDER BY place;

-- name: sessions_with_secrets
-- The ids of an owner's sessions that a secret proves.
SELECT id FROM sessions WHERE owner = :owner AND secret_digest <> '';

-- name: owners_of_sessions
-- Whose sessions there are.
SELECT DISTINCT owner FROM sessions ORDER BY owner;

-- name: sessions_at
-- The sessions of a worktree that are not detached, whoever owns them.
SELECT {session} FROM sessions WHERE worktree = :worktree AND detached_ms IS NULL;

-- name: sessions_changed
-- An owner's sessions that changed after an event, in that order.
SELECT {session} FROM sessions WHERE owner = :owner AND event > :event ORDER BY event;

-- name: sessions_ended
-- The ids of an owner's sessions that were deleted after an event, in that order.
SELECT id FROM ended WHERE owner = :owner AND event > :event ORDER BY event;

-- name: add_session
-- Register a session.
INSERT INTO sessions (
    id, owner, place, event, vendor, name, worktree, parent, host, pid, started, secret_digest, created_ms,
    heartbeat_ms, turn, blocked, open_todos, total_todos
) VALUES (
    :id, :owner, :event, :event, :vendor, :name, :worktree, :parent, :host, :pid, :started, :secret_digest, :now,
    :now, 0, '', 0, 0
);

-- name: attach_session
-- Attach a session again.
UPDATE sessions SET event = :event, vendor = :vendor, name = :name, worktree = :worktree, parent = :parent,
    host = :host, pid = :pid, started = :started, secret_digest = :secret_digest, heartbeat_ms = :now,
    detached_ms = NULL
WHERE id = :id;

-- name: latch_session
-- Set a turn latch.
UPDATE sessions SET event = :event, heartbeat_ms = :now, turn = :turn, turn_ended_ms = :ended_ms,
    turn_source = :source
WHERE id = :id;

-- name: describe_session
-- Change what is known of a session.
UPDATE sessions SET event = :event, heartbeat_ms = :now, name = :name, blocked = :blocked, open_todos = :open_todos,
    total_todos = :total_todos
WHERE id = :id;

-- name: beat_session
-- Record that a session was heard of.
UPDATE sessions SET heartbeat_ms = :now WHERE id = :id AND owner = :owner;

-- name: park_session
-- Record from when until when a session counts as waiting.
UPDATE sessions SET parked_since_ms = :since_ms, parked_until_ms = :until_ms WHERE id = :id AND owner = :owner;

-- name: detach_session
-- Record that a session's process ended.
UPDATE sessions SET event = :event, detached_ms = :now WHERE id = :id;

-- name: delete_session
-- Forget a session.
DELETE FROM sessions WHERE id = :id;

-- name: add_ended
-- Keep the id of a deleted session.
INSERT INTO ended (owner, id, event, ended_ms) VALUES (:owner, :id, :event, :now)
ON CONFLICT (owner, id) DO UPDATE SET event = excluded.event, ended_ms = excluded.ended_ms;

-- name: drop_ended
-- Forget that a session was deleted: it is there again.
DELETE FROM ended WHERE owner = :owner AND id = :id;

-- name: setting
-- What a person decided.
SELECT value FROM settings WHERE name = :name;

-- name: keep_setting
-- Keep what a person decided.
INSERT INTO settings (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: account
-- The hash of an account's password.
SELECT password FROM accounts WHERE name = :name;

-- name: accounts
-- The names of all accounts.
SELECT name FROM accounts ORDER BY name;

-- name: accounts_made
-- When each account was made.
SELECT name, created_ms FROM accounts ORDER BY name;

-- name: keep_account
-- Make an account, or give it another password.
INSERT INTO accounts (name, password, created_ms) VALUES (:name, :password, :now)
ON CONFLICT (name) DO UPDATE SET password = excluded.password;

-- name: drop_account
-- Remove an account.
DELETE FROM accounts WHERE name = :name;

-- name: member
-- One role that is in its team.
SELECT {member} FROM members WHERE owner = :owner AND role = :role AND left_ms IS NULL;

-- name: members
-- An owner's roles.
SELECT {member} FROM members WHERE owner = :owner AND left_ms IS NULL ORDER BY role;

-- name: members_of_team
-- The roles of one team, as a range of addresses.
SELECT {member} FROM members WHERE owner = :owner AND role > :low AND role < :high AND left_ms IS NULL ORDER BY role;

-- name: members_held
-- The roles whose lease names a session.
SELECT {member} FROM members WHERE session = :session AND session <> '' AND owner = :owner ORDER BY role;

-- name: leases
-- The roles of all owners that have a lease. Sorted by whoever asks: here that would cost a look at every role.
SELECT owner, {member} FROM members WHERE session > '' AND session <> '';

-- name: join_team
-- Make a role a member; one that left comes back as a new one that goes on counting its holders.
INSERT INTO members (owner, role, joined_ms, worktree, vendor, generation, session, ttl_ms)
VALUES (:owner, :role, :now, :worktree, :vendor, 0, '', 0)
ON CONFLICT (owner, role) DO UPDATE SET joined_ms = excluded.joined_ms, worktree = excluded.worktree,
    vendor = excluded.vendor, left_ms = NULL;

-- name: move_member
-- Keep where a role works now.
UPDATE members SET worktree = :worktree, vendor = :vendor WHERE owner = :owner AND role = :role;

-- name: leave_team
-- Take a role out of its team; who held it holds it no longer.
UPDATE members SET left_ms = :now, session = '', host = NULL, pid = NULL, started = NULL, taken_ms = NULL,
    beat_ms = NULL, ttl_ms = 0
WHERE owner = :owner AND role = :role;

-- name: take_role
-- Keep who holds a role.
UPDATE members SET generation = :generation, session = :session, host = :host, pid = :pid, started = :started,
    taken_ms = :taken_ms, beat_ms = :now, ttl_ms = :ttl_ms
WHERE owner = :owner AND role = :role;

-- name: beat_role
-- Keep when the holder of a role was heard of.
UPDATE members SET beat_ms = :now WHERE owner = :owner AND role = :role;

-- name: release_role
-- Keep that nobody holds a role.
UPDATE members SET session = '', host = NULL, pid = NULL, started = NULL, taken_ms = NULL, beat_ms = NULL, ttl_ms = 0
WHERE owner = :owner AND role = :role;

-- name: add_signal
-- Keep what a message says of an action.
INSERT INTO signals (mailbox, number, action, correlation, state)
VALUES (:box, :number, :action, :correlation, :state);

-- name: signals
-- What messages say of actions, in order.
SELECT number, action, correlation, state FROM signals WHERE mailbox = :box AND number > :after ORDER BY number;

-- name: sight
-- What a collector may see of a mailbox: the number of the newest unseen message, how many are unseen, how many wait,
-- how many of the unseen were told of. No text of a message is touched.
SELECT COALESCE(MAX(CASE WHEN m.unseen = 1 THEN m.number END), 0), COUNT(CASE WHEN m.unseen = 1 THEN 1 END),
    COUNT(m.number), COUNT(CASE WHEN m.unseen = 1 AND m.noticed_ms IS NOT NULL THEN 1 END)
FROM mailboxes AS b
LEFT JOIN messages AS m ON m.mailbox = b.id AND m.closed = '' AND {waits}
WHERE b.address = :place AND b.owner = :owner;

-- name: whole_sight
-- The same, and how many were acknowledged: all without those that wait and those that left without a word, so that
-- no history is counted.
SELECT COALESCE(MAX(CASE WHEN m.unseen = 1 AND {waits} THEN m.number END), 0),
    COUNT(CASE WHEN m.unseen = 1 AND {waits} THEN 1 END), COUNT(CASE WHEN {waits} THEN m.number END),
    COUNT(CASE WHEN m.unseen = 1 AND m.noticed_ms IS NOT NULL AND {waits} THEN 1 END),
    b.total - COUNT(m.number) - (
        SELECT COUNT(*) FROM messages AS l
        WHERE l.mailbox = b.id AND l.closed <> '' AND l.closed <> 'acknowledged'
    )
FROM mailboxes AS b LEFT JOIN messages AS m ON m.mailbox = b.id AND m.closed = ''
WHERE b.address = :place AND b.owner = :owner GROUP BY b.id, b.total;

-- name: monitor
-- The monitor of a mailbox.
SELECT mailbox, owner, record FROM monitors WHERE owner = :owner AND mailbox = :mailbox;

-- name: monitors
-- All monitors.
SELECT mailbox, owner, record FROM monitors ORDER BY mailbox, owner;

-- name: monitors_of_owner
-- An owner's monitors.
SELECT mailbox, owner, record FROM monitors WHERE owner = :owner ORDER BY mailbox;

-- name: monitors_of_session
-- The monitors that wake a session.
SELECT mailbox, owner, record FROM monitors WHERE session = :session ORDER BY mailbox, owner;

-- name: keep_monitor
-- Keep how a monitor stands.
INSERT INTO monitors (owner, mailbox, session, state, record) VALUES (:owner, :mailbox, :session, :state, :record)
ON CONFLICT (owner, mailbox) DO UPDATE SET session = excluded.session, state = excluded.state,
    record = excluded.record;

-- name: drop_monitor
-- Forget a monitor.
DELETE FROM monitors WHERE owner = :owner AND mailbox = :mailbox;

-- name: add_subscription
-- Keep who wants to be woken once.
INSERT INTO subscriptions (
    id, owner, mailbox, action, correlation, states, session, report_only, created_ms, expires_ms, reports_expiry
) VALUES (
    :id, :owner, :mailbox, :action, :correlation, :states, :session, :report_only, :created_ms, :expires_ms,
    :reports_expiry
);

-- name: subscriptions
-- An owner's subscriptions, in the order they were made.
SELECT {subscription} FROM subscriptions WHERE owner = :owner ORDER BY created_ms, id;

-- name: subscriptions_to
-- Who waits for a run of an action.
SELECT {subscription} FROM subscriptions
WHERE owner = :owner AND mailbox = :mailbox AND action = :action AND correlation = :correlation
ORDER BY created_ms, id;

-- name: subscriptions_expired
-- What nobody has to wait for any more, of all owners.
SELECT {subscription} FROM subscriptions WHERE expires_ms <= :now ORDER BY owner, created_ms, id;

-- name: drop_subscription
-- Take a subscription away.
DELETE FROM subscriptions WHERE id = :id AND owner = :owner;

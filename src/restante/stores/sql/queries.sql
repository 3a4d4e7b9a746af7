-- The statements of the SQL home, each under its name. They are written in the SQL that SQLite and PostgreSQL share;
-- parameters are :named. {message}, {receipt} and {reply} stand for the column lists below, which rows.py reads by place.

-- columns: message
number, id, posted_change, created_ms, expires_ms, noticed_ms, seen_ms, withdrawn_ms, closed, priority, scope, type,
sender, sender_verified, client_id, subject, conversation, parent, body;

-- columns: receipt
r.change, r.number, r.id, r.message_id, r.seen_ms, r.decision, r.action, r.summary, r.notes, r.reader;

-- columns: reply
change, id, message_id, created_ms, sender, body;

-- name: box
-- The counters of one mailbox. A writer holds the lock on them until it commits.
SELECT id, tag, last_number, last_change, total FROM mailboxes WHERE address = :address;

-- name: add_box
-- Begin a mailbox; one that is there already stays.
INSERT INTO mailboxes (address, tag, last_number, last_change, total) VALUES (:address, :tag, 0, 0, 0)
ON CONFLICT (address) DO NOTHING;

-- name: settle_box
-- Keep the counters.
UPDATE mailboxes SET last_number = :number, last_change = :change, total = :total WHERE id = :box;

-- name: add_message
-- Store a message.
INSERT INTO messages (
    mailbox, number, id, posted_change, created_ms, expires_ms, unseen, closed, priority, scope, type, sender,
    sender_verified, client_id, subject, conversation, parent, body_bytes, body
) VALUES (
    :box, :number, :id, :change, :created_ms, :expires_ms, 1, '', :priority, :scope, :type, :sender, :sender_verified,
    :client_id, :subject, :conversation, :parent, :body_bytes, :body
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
SELECT {message} FROM messages WHERE mailbox = :box AND client_id = :client_id;

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
SELECT COUNT(*), COUNT(CASE WHEN unseen = 1 THEN 1 END), MIN(CASE WHEN unseen = 1 THEN created_ms END),
    COALESCE(SUM(body_bytes), 0)
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
SELECT deleted_ms FROM deleted WHERE mailbox = :box AND id = :id;

-- name: keep_ids
-- Keep the ids of what is about to be deleted.
INSERT INTO deleted (mailbox, id, deleted_ms) SELECT mailbox, id, :now FROM messages WHERE mailbox = :box;

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

-- name: delete_messages
-- Delete the messages of a mailbox; its counters stay.
DELETE FROM messages WHERE mailbox = :box;

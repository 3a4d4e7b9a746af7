"""The agent's side: marks, receipts and replies. Nothing here writes INBOX.md or anything outside of the mailbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import BadText
from restante.domain.lifecycle import Event, step
from restante.domain.limits import check_text
from restante.domain.message import Reply, Sender
from restante.domain.receipt import Receipt
from restante.stores.worktree.blocks import receipt_of, reply_of
from restante.stores.worktree.grammar import Kind, scan
from restante.stores.worktree.layout import OUTBOX, RECEIPTS
from restante.stores.worktree.lock import locked
from restante.stores.worktree.marks import add_marks
from restante.stores.worktree.render import HEADERS, render_receipt, render_reply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from restante.domain.mailbox import Acknowledgement, Mark
    from restante.stores.worktree.desk import Desk
    from restante.stores.worktree.grammar import Block


def mark(desk: Desk, message_ids: Sequence[str], kind: Mark, reader: str) -> None:
    """Record that messages were noticed or seen; see ``ports.Mailbox.mark``."""
    known = [one for one in dict.fromkeys(message_ids) if desk.find(one)]
    new = [one for one in known if not desk.book.said(one).marks.get(kind)]
    if new:
        desk.ledger.marks.went_on(add_marks(desk.layout, new, kind, reader, desk.now()))
        desk.look()
    desk.save_index()


def acknowledge(desk: Desk, words: Sequence[Acknowledgement], reader: str) -> list[Receipt]:
    """Store the addressee's word, all or none; see ``ports.Mailbox.acknowledge``."""
    for text in (text for word in words for text in (word.summary, word.notes)):
        check_text(text, desk.limits, what="receipt")
    for word in words:
        desk.known(word.message_id)
    if not words:
        return []
    with locked(desk.layout, RECEIPTS) as held:
        # The message may have been taken back meanwhile.
        letters = [desk.known(word.message_id) for word in words]
        for letter in letters:
            step(desk.judge(letter, desk.now()).standing.status, Event.ACKNOWLEDGE, message_id=letter.message.id)
        said = {word.message_id: desk.book.said(word.message_id).receipts for word in words}
        newest = {message_id: receipts[-1] for message_id, receipts in said.items() if receipts}
        new: list[bytes] = []
        answers = [_answer(desk, word, reader, newest, new) for word in words]
        if new:
            desk.ledger.receipts.went_on(held.append(b"".join(new), header=HEADERS[RECEIPTS]))
            desk.look()
            desk.save_index()
    return answers


def _answer(desk: Desk, word: Acknowledgement, reader: str, newest: dict[str, Receipt], new: list[bytes]) -> Receipt:
    """Return the receipt for a word: the newest one if that says the same, else a new one."""
    last = newest.get(word.message_id)
    now = desk.now()
    # Receipts are merged by time, so a clock that was set back must not make a later word the older one.
    at = max(now, last.seen_at) if last and last.seen_at else now
    receipt = Receipt(
        id=desk.ids.new("receipt", at),
        message_id=word.message_id,
        seen_at=at,
        decision=word.decision,
        action=word.action,
        summary=word.summary,
        notes=word.notes,
        by=reader,
    )
    data = render_receipt(receipt)
    # As it will be read: what is compared and returned is what is stored.
    receipt = receipt_of(_only(data, RECEIPTS, Kind.RECEIPT))
    if last and receipt._replace(id=last.id, seen_at=last.seen_at, by=last.by) == last:
        return last
    new.append(data)
    newest[word.message_id] = receipt
    return receipt


def reply(desk: Desk, to: str, body: str, reader: str) -> Reply:
    """Store the addressee's words; see ``ports.Mailbox.reply``."""
    check_text(body, desk.limits, what="reply")
    if to:
        desk.known(to)
    with locked(desk.layout, OUTBOX) as held:
        now = desk.now()
        words = Reply(desk.ids.new("reply", now), to, now, body, Sender(reader or "agent"))
        data = render_reply(words)
        if reply_of(_only(data, OUTBOX, Kind.REPLY)) != words:
            raise BadText("the reply would not come back from the mailbox file as it is", remedy="change its text")
        held.append(data, header=HEADERS[OUTBOX])
    return words


def _only(data: bytes, source: str, kind: Kind) -> Block:
    """Return the one block of what was rendered.

    Raises:
        BadText: There is not one.
    """
    blocks = scan(b"\n" + data, source=source, kind=kind).blocks
    if len(blocks) != 1 or not blocks[0].complete:
        raise BadText("the text would not come back from the mailbox file as it is", remedy="change it")
    return blocks[0]

"""When a monitor wakes, and when it does not."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.domain.monitored import T0, Mailbox, wanted

from restante.domain import arming, tending
from restante.domain.errors import RoleHeld, UsageError
from restante.domain.monitor import MonitorState, Plan, Sight
from restante.domain.monitoring import RULES, Proof, Word, unlooked
from restante.domain.registry import Process


@pytest.mark.parametrize("plan", Plan)
def test_a_wake_is_made_again_only_after_a_while_and_so_often_in_all(plan: Plan) -> None:
    box = Mailbox(plan)
    retry = RULES.retry if plan is Plan.EVENT else RULES.scheduled_retry
    box.post()
    words = [box.check(is_forced=True).word]
    for _ in range(6):
        box.wait(retry.total_seconds() - 1)
        waiting = box.check(is_forced=True)
        assert waiting.word in (Word.WAITING, Word.ERROR)
        box.wait(1)
        words.append(box.check(is_forced=True).word)
    assert words == [Word.WAKE, Word.WAKE, Word.WAKE, Word.ERROR, Word.ERROR, Word.ERROR, Word.ERROR]
    assert box.kept.state is MonitorState.ERROR
    assert box.kept.last_error == "woken 3 times, and no mail was collected"


def test_waiting_says_after_how_long_a_wake_can_come() -> None:
    box = Mailbox()
    box.post()
    box.check()
    box.wait(30)
    assert box.check().retry_in == timedelta(seconds=60)
    assert box.check(retry=timedelta(seconds=31)).retry_in == timedelta(seconds=1)


def test_a_session_that_reads_its_mail_mends_an_error() -> None:
    box = Mailbox()
    box.post()
    for _ in range(4):
        box.check()
        box.wait(90)
    assert box.kept.state is MonitorState.ERROR
    box.read()
    assert (box.kept.state, box.kept.last_error, box.kept.last_delivered) == (MonitorState.ACTIVE, "", 1)
    box.post()
    assert box.check().word is Word.WAKE


def test_a_heartbeat_mends_an_error_and_the_same_mark_gets_its_tries_again() -> None:
    box = Mailbox()
    box.post()
    for _ in range(4):
        box.check()
        box.wait(90)
    box.do(tending.heartbeat(box.monitor, box.now, Proof()))
    assert [box.check().word, box.check().word] == [Word.WAKE, Word.WAITING]


def test_the_beat_of_a_receiver_mends_nothing_and_puts_no_end_off() -> None:
    box = Mailbox()
    box.post()
    for _ in range(4):
        box.check()
        box.wait(90)
    end, receiver = box.kept.expires, Process("here", 7, "then")
    answer = box.do(tending.beat(box.monitor, box.now, receiver))
    assert (answer.word, box.kept.expires, box.kept.receiver) == (Word.ERROR, end, receiver)


def test_a_mark_that_is_new_wakes_a_task_out_of_its_error_but_no_receiver() -> None:
    words = {}
    for plan in Plan:
        box = Mailbox(plan)
        box.post()
        for _ in range(4):
            box.check(is_forced=True)
            box.wait(300)
        box.post()
        words[plan] = box.check(is_forced=True).word
    assert words == {Plan.EVENT: Word.ERROR, Plan.SCHEDULED: Word.WAKE}


def test_wakes_that_nobody_follows_end_although_each_is_for_newer_mail() -> None:
    box = Mailbox()
    words = []
    for _ in range(12):
        box.post()
        words.append(box.check().word)
        box.wait(90)
    assert words.count(Word.WAKE) == RULES.backlog
    assert words[-1] is Word.ERROR


def test_a_burst_makes_two_wakes_whatever_is_looked_at_in_between() -> None:
    box = Mailbox()
    words = []
    for _ in range(8):
        box.post()
        words.append(box.check().word)
        box.wait(1)
    box.wait(RULES.settle.total_seconds())
    last = box.check()
    assert [*words, last.word].count(Word.WAKE) == 2
    assert last.mark == 8
    assert box.check().word is Word.WAITING


def test_mail_that_comes_after_the_last_was_read_wakes_at_once() -> None:
    box = Mailbox()
    for _ in range(5):
        box.post()
        assert box.check().word is Word.WAKE
        box.read()


def test_a_mark_that_fell_wakes_nobody() -> None:
    box = Mailbox()
    box.post(5)
    assert box.check().mark == 5
    for number in (5, 3, 1):
        box.read(number)
        box.wait(1000)
        assert box.check().word is Word.WAITING
    assert box.kept.last_delivered == 5


def test_a_mark_that_fell_wakes_nobody_where_no_reading_was_told_of() -> None:
    box = Mailbox()
    box.post(5)
    box.check()
    box.unread.discard(5)
    box.wait(1000)
    assert box.check().word is Word.WAITING
    assert (box.kept.pending, box.kept.last_delivered) == (0, 5)


def test_a_wake_that_failed_is_owed_although_its_newest_message_was_withdrawn() -> None:
    box = Mailbox()
    box.post(2)
    box.check()
    box.failed(2, "the program is gone")
    box.unread.discard(2)
    box.wait(90)
    assert (box.check().word, box.kept.tries) == (Word.WAKE, 2)


def test_delivered_is_believed_only_of_a_mark_that_was_told() -> None:
    box = Mailbox()
    box.post(3)
    box.check()
    before = box.kept
    for mark in (0, 1, 2, 4):
        with pytest.raises(UsageError, match=str(mark)):
            box.delivered(mark)
    assert box.kept == before
    assert box.delivered(3).word is Word.DELIVERED
    assert box.delivered(3).word is Word.DELIVERED


def test_delivered_of_an_older_wake_leaves_the_newer_one_open() -> None:
    box = Mailbox()
    box.post()
    box.check()
    box.post()
    box.wait(10)
    assert box.check().mark == 2
    box.delivered(1)
    assert (box.kept.pending, box.kept.last_delivered) == (2, 1)
    box.delivered(2)
    assert (box.kept.pending, box.kept.last_delivered) == (0, 2)
    with pytest.raises(UsageError):
        box.delivered(1)


def test_a_failure_of_a_wake_that_was_never_made_is_refused_and_an_old_one_counts_nothing() -> None:
    box = Mailbox()
    box.post()
    box.check()
    with pytest.raises(UsageError):
        box.failed(2)
    box.post()
    box.wait(10)
    box.check()
    box.failed(1)
    assert box.kept.failures == 0
    box.failed(2, "no such thread")
    assert (box.kept.failures, box.kept.last_error) == (1, "no such thread")


def test_a_wake_that_was_confirmed_forgets_the_failures_before() -> None:
    box = Mailbox()
    box.post()
    box.check()
    box.failed(1)
    box.do(tending.confirmed(box.monitor, 1, box.kept.token))
    assert (box.kept.failures, box.kept.last_woken, box.kept.last_error) == (0, 1, "")
    assert box.do(tending.confirmed(box.monitor, 1, "token of another arming")).word is Word.INACTIVE


def test_a_wake_that_no_way_led_to_is_no_try() -> None:
    box = Mailbox()
    box.post()
    for _ in range(9):
        answer = box.check()
        assert answer.word is Word.WAKE
        box.do(tending.hindered(box.monitor, "the session is not loaded anywhere", answer.mark, box.kept.token))
    assert (box.kept.tries, box.kept.backlog, box.kept.state) == (0, 0, MonitorState.ACTIVE)
    assert box.kept.hindrance == "the session is not loaded anywhere"


def test_a_wake_that_failed_is_still_owed_after_no_way_led_to_the_session() -> None:
    box = Mailbox()
    box.post()
    box.check()
    box.failed(1)
    box.now += RULES.retry
    for _ in range(9):
        assert box.check().word is Word.WAKE, "whenever it is looked, a way may be there again"
        box.do(tending.hindered(box.monitor, "the session is not loaded anywhere", 1, box.kept.token))
        assert (box.kept.pending, box.kept.tries, box.kept.backlog) == (1, 1, 1)
    assert box.check().mark == 1
    box.do(tending.confirmed(box.monitor, 1, box.kept.token))
    assert box.check().word is Word.WAITING
    box.now += RULES.retry
    assert (box.check().word, box.kept.tries) == (Word.WAKE, 3)


def test_that_no_way_led_to_a_session_undoes_no_wake_of_anybody_else() -> None:
    box = Mailbox()
    box.post()
    box.check()
    box.do(tending.hindered(box.monitor, "its waiter is stopped", token=box.kept.token))
    assert (box.kept.hindrance, box.kept.pending) == ("its waiter is stopped", 1), "a wake that is on its way stays so"
    kept = box.monitor
    for mark, token in ((1, "token of another arming"), (0, "token of another arming")):
        assert box.do(tending.hindered(box.monitor, "no way", mark, token)).word is Word.INACTIVE
        assert box.monitor == kept
    box.do(tending.hindered(box.monitor, "no way", 2, box.kept.token))
    assert (box.kept.hindrance, box.kept.pending) == ("no way", 1), "nor one for another mark"


def test_what_cannot_be_looked_into_is_told_and_looked_at_again() -> None:
    box = Mailbox(Plan.SCHEDULED)
    for count in (1, 2, 3, 4):
        answer = box.do(unlooked(box.monitor, Sight(), box.now, Proof(), "the disk is gone"))
        assert (answer.word, box.kept.failures, box.kept.last_error) == (Word.ERROR, count, "the disk is gone")
        assert box.kept.state is MonitorState.ACTIVE
    box.post()
    assert box.check(is_forced=True).word is Word.WAKE
    assert (box.kept.failures, box.kept.last_error) == (0, "")


def test_a_healthy_receiver_is_left_alone_until_its_beat_is_old() -> None:
    box = Mailbox()
    box.post()
    box.do(tending.beat(box.monitor, box.now, None))
    box.wait(59)
    assert box.check(healthy_within=timedelta(seconds=60)).word is Word.HEALTHY
    box.wait(1)
    assert box.check(healthy_within=timedelta(seconds=60)).word is Word.WAKE


def test_a_beat_from_a_clock_that_was_set_back_does_not_count_for_ever() -> None:
    box = Mailbox()
    box.post()
    box.wait(86_000)
    box.do(tending.beat(box.monitor, box.now, None))
    box.now = T0
    within = timedelta(seconds=60)
    assert box.check(healthy_within=within).word is Word.HEALTHY
    box.wait(61)
    assert box.check(healthy_within=within).word is Word.WAKE


def test_a_monitor_of_a_receiver_lasts_from_the_last_sign_of_its_session() -> None:
    box = Mailbox()
    assert box.kept.expires == T0 + arming.EVENT_LASTS
    box.wait(3600)
    box.do(tending.heartbeat(box.monitor, box.now, Proof()))
    assert box.kept.expires == box.now + arming.EVENT_LASTS
    box.wait(30)
    box.read()
    assert box.kept.expires == box.now + arming.EVENT_LASTS - timedelta(seconds=30), "not worth a write"
    box.wait(60)
    box.read()
    assert box.kept.expires == box.now + arming.EVENT_LASTS


@pytest.mark.parametrize("plan", Plan)
def test_exactly_at_its_end_a_monitor_looks_once_more(plan: Plan) -> None:
    box = Mailbox(plan)
    box.post()
    box.now = box.kept.expires
    assert box.check().word is Word.WAKE
    empty = Mailbox(plan)
    empty.now = empty.kept.expires
    assert empty.check().word is Word.EXPIRED
    late = Mailbox(plan)
    late.post()
    late.now = late.kept.expires + timedelta(milliseconds=1)
    assert late.check().word is Word.EXPIRED
    assert late.do(tending.heartbeat(late.monitor, late.now, Proof())).word is Word.EXPIRED


def test_nobody_but_its_session_and_its_token_acts_on_a_monitor() -> None:
    box = Mailbox()
    box.post()
    before = box.kept
    copied = Proof(box.kept.token, "session-2")
    for proof in (Proof("token of another"), Proof("", "session-2"), copied):
        assert box.check(proof).word is Word.INACTIVE
        assert box.delivered(1, proof).word is Word.INACTIVE
        assert box.do(tending.heartbeat(box.monitor, box.now, proof)).word is Word.INACTIVE
        assert box.do(tending.failed(box.monitor, box.now, proof, 1)).word is Word.INACTIVE
        assert box.do(tending.scheduled(box.monitor, proof, 120)).word is Word.INACTIVE
        assert box.do(tending.automated(box.monitor, proof, ("one",))).word is Word.INACTIVE
        assert box.do(arming.disarm(box.monitor, proof)).word is Word.INACTIVE
    assert box.kept == before
    assert box.check(Proof(box.kept.token, "session-1")).word is Word.WAKE


def test_whoever_lost_the_role_ends_the_monitor_by_asking() -> None:
    box = Mailbox()
    box.post()
    armed = box.kept.token, box.kept.generation
    for later in (("token of another", 1), (box.kept.token, 2)):
        assert box.check(Proof(over=later)).word is not Word.EXPIRED, "that was found of another arming"
    assert box.check(Proof(over=armed)).word is Word.EXPIRED
    assert box.check().word is Word.EXPIRED


def test_another_session_is_refused_until_the_first_is_gone_or_its_lease_is_older() -> None:
    box = Mailbox()
    before = box.kept
    with pytest.raises(RoleHeld, match="session-1"):
        arming.arm(box.monitor, box.now, wanted("session-2"))
    with pytest.raises(RoleHeld):
        arming.prepare(box.monitor, box.now, wanted("session-2"))
    assert box.kept == before
    box.do(tending.automated(box.monitor, Proof(), ("task-a",)))
    taken, answer = arming.arm(box.monitor, box.now, wanted("session-2", generation=2))
    assert taken
    assert (taken.session, taken.generation, answer.automations) == ("session-2", 2, ("task-a",))
    gone = before.token, before.generation
    with pytest.raises(RoleHeld):
        arming.arm(box.monitor, box.now, wanted("session-2", gone=("token of another", 1)))
    assert arming.arm(box.monitor, box.now, wanted("session-2", gone=gone))[0] is not None
    with pytest.raises(RoleHeld):
        arming.arm(taken, box.now, wanted("session-1", gone=(taken.token, 2)))


def test_arming_again_keeps_the_token_the_marks_and_what_is_pending() -> None:
    box = Mailbox()
    box.post()
    box.check()
    box.wait(10)
    before = box.kept
    box.do(arming.arm(box.monitor, box.now, wanted(token="another")))
    assert box.kept == before._replace(
        armed=box.now, cycle_started=box.now, expires=box.now + box.kept.time_to_live, last_checked=None
    )
    assert box.check().word is Word.WAITING
    box.do(arming.arm(box.monitor, box.now, wanted(token="mine", is_given=True)))
    assert box.kept.token == "mine"


def test_arming_again_after_the_end_wakes_once_for_what_waits_and_not_for_what_was_delivered() -> None:
    box = Mailbox()
    box.post()
    box.check()
    box.delivered(1)
    box.unread.clear()
    box.post()
    box.check()
    box.now = box.kept.expires + timedelta(seconds=1)
    box.do(arming.expire(box.monitor, box.now))
    assert box.kept.state is MonitorState.EXPIRED
    box.do(arming.arm(box.monitor, box.now, wanted()))
    assert box.kept.last_delivered == 1
    with pytest.raises(UsageError):
        box.delivered(2)
    assert [box.check().word, box.check().word] == [Word.WAKE, Word.WAITING]


def test_preparing_again_changes_nothing() -> None:
    box = Mailbox(Plan.SCHEDULED)
    box.wait(700)
    before = box.kept
    answer = box.do(arming.prepare(box.monitor, box.now, wanted(plan=Plan.SCHEDULED, token="another")))
    assert (answer.word, box.kept) == (Word.ALREADY_PREPARED, before)
    box.do(arming.disarm(box.monitor, Proof()))
    answer = box.do(arming.prepare(box.monitor, box.now, wanted(plan=Plan.SCHEDULED, token="another")))
    assert (answer.word, box.kept.token) == (Word.PREPARED, "another")


def test_a_session_that_ended_leaves_a_sign_only_for_tasks_that_have_to_be_removed() -> None:
    plain, automated = Mailbox(), Mailbox()
    assert plain.do(arming.deactivate(plain.monitor, "session-1")).word is Word.INACTIVE
    assert plain.monitor is None
    automated.do(tending.automated(automated.monitor, Proof(), ("hb", "wd", "hb")))
    automated.do(arming.deactivate(automated.monitor, "session-1"))
    assert (automated.kept.state, automated.kept.automations) == (MonitorState.INACTIVE, ("hb", "wd"))
    automated.post()
    assert automated.check().word is Word.INACTIVE
    assert automated.do(arming.disarm(automated.monitor, Proof())).automations == ("hb", "wd")
    assert automated.do(arming.disarm(automated.monitor, Proof())).automations == ()


def test_nothing_acts_on_a_monitor_that_is_not_there() -> None:
    proof = Proof()
    steps = (
        tending.heartbeat(None, T0, proof),
        tending.beat(None, T0, None),
        tending.delivered(None, T0, proof, 1),
        tending.collected(None, T0, "session-1", 0),
        tending.confirmed(None, 1, "token"),
        tending.failed(None, T0, proof, 1),
        tending.hindered(None, "why"),
        tending.scheduled(None, proof, 120),
        tending.automated(None, proof, ("one",)),
        arming.disarm(None, proof),
        arming.deactivate(None, "session-1"),
        arming.expire(None, T0),
        unlooked(None, Sight(), T0, proof, "why"),
    )
    assert {(step[0], step[1].word) for step in steps} == {(None, Word.INACTIVE)}

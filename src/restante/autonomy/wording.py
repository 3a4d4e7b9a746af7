"""Reason codes in words: what a person reads who must decide."""

from __future__ import annotations

from restante.autonomy.vocabulary import HARD_STOP_CODES

_WORDS = {
    "mode_always_pause": "your policy lets nothing start without you",
    "config_malformed": "your policy cannot be used, so nothing starts without you",
    "policy_auth_invalid": "your policy is not as you signed it, so nothing starts without you",
    "message_invalid": "the message is not as the format says",
    "message_expired": "the message has expired",
    "message_replayed": "this message ran before",
    "task_profile_missing": "the message does not declare what the work involves",
    "task_profile_unparsable": "what the message declares of the work cannot be read",
    "risk_obvious_no_profile": "the message names a risky step and does not declare what the work involves",
    "envelope_compile_error": "no limits could be set for the work",
    "estimated_minutes_exceeds_threshold": "it is estimated to take longer than your policy allows",
    "expected_files_touched_exceeds_threshold": "it is expected to change more files than your policy allows",
    "destructive_ops_pause": "it declares destructive operations",
    "auth_config_or_secrets_pause": "it declares to touch authentication, configuration or secrets",
    "dependency_changes_pause": "it declares to change dependencies",
    "public_visibility_pause": "it declares results that the public sees",
    "declaration_error": "what it declares contradicts itself",
    "external_side_effects_pause": "it declares effects outside of the worktree",
    "external_side_effects_not_pr_artifact": "its effects outside are not just artifacts of a private pull request",
    "hard_stop_destructive_command": "it names a destructive command",
    "hard_stop_external_side_effect": "it asks for a step that others see: a deploy, a publish, a merge",
    "hard_stop_sensitive_scope": "it is about secrets, credentials, configuration or what is public",
    "hard_stop_content_sensitivity": "it is about prices or business",
    "file_scope_ambiguous": "it does not say which files",
    "threshold_checkpoint_breached": "the work went beyond what was declared",
    "checkpoint_reauthorization_stale": "the answer to the last pause does not cover this",
    "continuation_grant_denied": "a grant for this thread was denied",
    "continuation_grant_ignored_disabled": "it builds on a grant, and your policy does not recognise grants",
    "continuation_grant_missing_approval": "nobody has granted this thread anything",
    "continuation_grant_missing_scope": "the grant that it asks for says not clearly what for",
    "continuation_grant_missing_thread": "it builds on a grant and belongs to no thread",
    "continuation_grant_scope_exceeded": "it goes beyond what was granted to this thread",
    "continuation_grant_type_not_granted": "this type of message was not granted to this thread",
    "continuation_grant_round_exceeded": "the rounds that were granted are used up",
    "continuation_grant_expired": "the grant for this thread has expired",
    "continuation_grant_revoked": "the grant for this thread was taken back",
}


def in_words(code: str) -> str:
    """Return what a reason code means; of one without words, the code as words."""
    return _WORDS.get(code) or code.replace("_", " ")


def is_hard(code: str) -> bool:
    """Tell whether a reason is one over which no one but the person decides."""
    return code in HARD_STOP_CODES or code.startswith("strict_") or code in ("policy_auth_invalid", "message_replayed")

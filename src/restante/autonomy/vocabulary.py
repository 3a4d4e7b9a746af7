"""The words of receiver autonomy: what policies, profiles, grants and audit records may say.

The names are those of OACP 0.5.3 on disk; ``STRICT_CODES`` are ours.
"""

from __future__ import annotations

# In the order in which errors list them.
MESSAGE_TYPES = (
    "brainstorm_followup",
    "brainstorm_request",
    "follow_up",
    "handoff",
    "handoff_complete",
    "notification",
    "question",
    "review_addressed",
    "review_feedback",
    "review_lgtm",
    "review_request",
    "task_request",
)
REVIEW_TYPES = frozenset({"review_request", "review_addressed", "review_feedback", "review_lgtm"})
# What may be run at all; everything else is read.
GRANTED_TYPES = frozenset(
    {
        "task_request",
        "question",
        "brainstorm_request",
        "brainstorm_followup",
        "handoff",
        "review_request",
        "review_addressed",
    }
)
PRIORITIES = ("P0", "P1", "P2", "P3")

ACCEPTED = "auto_accepted"
PAUSED = "paused"
ALWAYS_PAUSE = "always_pause"
AUTO_REVIEW = "auto_review"

# What a message can leave behind in a repository; in the order of every list that names them.
ARTIFACTS = ("creates_or_updates_pr", "comments_on_github", "commits_changes", "merges_pr", "files_issues")
REPLY_EFFECTS = ("writes_findings_packet", "sends_oacp_reply", "submits_github_review")
EFFECTS = ARTIFACTS + REPLY_EFFECTS
# The booleans that every complete profile carries.
BASIC_FLAGS = (
    "destructive_ops",
    "external_side_effects",
    "touches_auth_config_or_secrets",
    "touches_dependencies",
    "public_visibility",
)
NUMBERS = ("estimated_minutes", "expected_files_touched")
# The order in which a profile and an envelope are written.
PROFILE_KEYS = (*NUMBERS, "risk_tier", "target_repo", *BASIC_FLAGS, *ARTIFACTS, "sends_oacp_reply_only")

COMPLETION_KINDS = frozenset({"auto_accepted", "admission_paused", "checkpoint_paused", "config_malformed"})
LIVE_STATES = frozenset({"pending", "paused", "blocked"})
TERMINAL_STATES = frozenset({"done", "superseded", "error", "cancelled"})

HARD_STOP_CODES = frozenset(
    {
        "hard_stop_destructive_command",
        "hard_stop_external_side_effect",
        "hard_stop_sensitive_scope",
        "hard_stop_content_sensitivity",
        "file_scope_ambiguous",
    }
)
REASON_CODES = (
    HARD_STOP_CODES
    | {f"{flag}_{end}" for flag in ARTIFACTS for end in ("pause", "invalid")}
    | {
        "message_valid",
        "message_not_expired",
        "message_hash_recorded",
        "task_profile_present",
        "task_profile_not_required",
        "task_type_allowed",
        "risk_threshold_passed",
        "hard_stops_clear",
        "lexical_advisory",
        "workspace_check_required",
        "config_malformed",
        "policy_auth_invalid",
        "mode_always_pause",
        "message_invalid",
        "message_expired",
        "message_replayed",
        "task_profile_missing",
        "task_profile_unparsable",
        "risk_obvious_no_profile",
        "envelope_compile_error",
        "estimated_minutes_exceeds_threshold",
        "expected_files_touched_exceeds_threshold",
        "destructive_ops_pause",
        "auth_config_or_secrets_pause",
        "dependency_changes_pause",
        "public_visibility_pause",
        "declaration_error",
        "external_side_effects_not_pr_artifact",
        "external_side_effects_pause",
        "max_actual_minutes_invalid",
        "max_actual_files_touched_invalid",
        "continuation_grant_accepted",
        "continuation_grant_denied",
        "continuation_grant_ignored_disabled",
        "continuation_grant_missing_approval",
        "continuation_grant_missing_scope",
        "continuation_grant_missing_thread",
        "continuation_grant_scope_exceeded",
        "continuation_grant_type_not_granted",
        "continuation_grant_round_exceeded",
        "continuation_grant_expired",
        "continuation_grant_revoked",
        "threshold_checkpoint_breached",
        "checkpoint_reauthorized",
        "checkpoint_reauthorization_stale",
    }
)
# In the order in which a strict pause lists them.
STRICT_CODES = (
    "strict_destructive_command",
    "strict_remote_code",
    "strict_external_side_effect",
    "strict_dependency_install",
    "strict_sensitive_scope",
    "strict_content_sensitivity",
    "strict_ambiguous_scope",
    "strict_hidden_text",
)

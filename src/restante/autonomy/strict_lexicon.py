"""What our own hard stops look for beside the rules of screening: commands and instructions the published table misses.

A command is a command wherever it stands and whatever is said around it; only instructions are taken back by a
negation.
"""

from __future__ import annotations

import re

from restante.autonomy.lexicon import INSTALL_VERB
from restante.autonomy.strict_tongues import TONGUES
from restante.domain.screening.actions import ACTIONS
from restante.domain.screening.rule import Rule

DESTRUCTIVE = "strict_destructive_command"
REMOTE = "strict_remote_code"
EXTERNAL = "strict_external_side_effect"
DEPENDENCY = "strict_dependency_install"
SENSITIVE = "strict_sensitive_scope"
HIDDEN = "strict_hidden_text"

_LINE = r"[^\n;|&]{0,120}?"
# Where a word of a command ends.
_ENDS = r"(?=[\s`;|&).,\"']|$)"
# The dash of a flag, however a shell lets it be quoted.
_DASH = r"[ \t][\"'\\]{0,2}-[\"'\\]{0,2}"
_FLAGS = r"(?:[ \t]+--?[\w-]+(?:=\S{1,80})?){0,6}"
# A branch that everybody works from, at the end of what is said of it: "main", not "main thread".
_SHARED = (
    r"(?:main|master|trunk|(?:the[ \t]+)?default[ \t]+branch)\b(?![-/\w])"
    r"(?=[ \t]*(?:[.,;:!?)\]\"'`*&|\r\n]|$)|[ \t]+(?:branch|and|then|once|after|when|without|before|with|now|directly|"
    r"if|as|so|on|at|for|today|instead|yourself|straight|--?\w)\b|[ \t]+-)"
)
_NAME = r"[\w./:@-]{1,100}"
# Words that follow "pip install" where a sentence is about installing.
_ABOUT = (
    r"(?!(?:instructions?|docs?|documentation|guides?|steps?|commands?|paths?|pages?|sections?|notes?|examples?|errors?|"
    r"output|logs?|is|was|are|were|fails?|failed|failing|works?|worked|takes|took|runs?|ran|and|or|but|for|in|on|of|to|"
    r"when|if|as|with|from|into|by|that|which|does|did|do|should|must|can|will|would|has|had|have|instead|again)\b)"
)
_MANAGERS = (
    r"(?:pip3?|pipx|conda|mamba|brew|gem|cargo|apt(?:-get)?|dnf|yum|zypper|apk|pacman|snap|npm|pnpm|yarn|bun|poetry|pdm|uv|"
    r"uv[ \t]+pip|go|composer)"
)

# A file that is fetched, and something run or made to run within the next lines.
_FETCHES = re.compile(r"\bwget\b|[ \t]-[a-z]{0,6}o(?![\w-])|--output|--remote-name|>|-outfile", re.IGNORECASE)
_RUNS = re.compile(
    r"(?:&&|;|\n)[ \t>$#]{0,8}(?:sudo[ \t]+)?(?:(?:(?:ba|z|da|k|fi)?sh|source|python3?|perl|ruby|node)[ \t]+(?!-)\S"
    r"|chmod[ \t]+[\w,=+]{0,8}x|\./\w)",
    re.IGNORECASE,
)
_REACH = 600
_MOST_LINES = 3


def _runs_what_it_fetched(match: re.Match[str]) -> bool:
    near = "\n".join(match.string[match.start() : match.start() + _REACH].split("\n")[:_MOST_LINES])
    fetched = _FETCHES.search(near)
    return fetched is not None and _RUNS.search(near, fetched.end()) is not None


_COMMANDS = (
    Rule(
        "destructive.dd", "copies raw blocks", ("dd ", "dd\t"), r"\bdd(?:[ \t]+[a-z]{2,8}=\S{1,200}){0,6}[ \t]+[io]f=\S"
    ),
    Rule(
        "destructive.forced_lease",
        "throws away commits of others",
        ("--force-with-lease", "--force-if-includes"),
        r"(?<![\w-])--force-(?:with-lease|if-includes)(?![\w-])",
    ),
    Rule(
        "destructive.rm_flags",
        "removes a tree without asking",
        ("rm ", "rm\t"),
        rf"(?<![\w-])rm\b(?={_LINE}{_DASH}(?:[a-z]{{0,6}}r|-recursive))(?={_LINE}{_DASH}(?:[a-z]{{0,6}}f|-force))",
    ),
    Rule(
        "destructive.hidden_spaces",
        "hides what a command says",
        ("$ifs", "${ifs"),
        r"\w\$(?:ifs\b|\{ifs[^}\n]{0,20}\})",
    ),
    Rule(
        "destructive.find_exec",
        "removes what it finds",
        ("-exec", "xargs"),
        r"\bfind[ \t][^\n;|]{1,300}?[ \t]-exec(?:dir)?[ \t]+(?:sudo[ \t]+)?rm\b|\bxargs\b[^\n;|]{0,80}?[ \t]rm\b",
        also=("rm",),
    ),
    Rule(
        "destructive.decoded_script",
        "runs a script that nobody can read",
        ("base64", "base32", "xxd", "openssl", "uudecode", "gunzip", "zcat"),
        r"\b(?:(?:base64|base32|xxd|openssl|gunzip)\b[^\n|]{0,60}?[ \t]-{1,2}(?:[a-z]{0,4}[drc]\b|dec)|uudecode\b"
        r"|zcat\b)[^\n]{0,100}?\|[ \t]*(?:sudo[ \t]+(?:-\w+[ \t]+){0,3})?"
        r"(?:/[\w/.-]{0,40}/)?(?:(?:ba|z|da|k|c|fi)?sh|perl|ruby|node|python3?)"
        r"(?=[ \t]*(?:-[ \t]*)?(?:$|[\n;|&\"'`).,]))",
        also=("|",),
    ),
    Rule(
        "destructive.no_brakes",
        "lets an agent work without its limits",
        ("--dangerously-", "--yolo"),
        r"(?<![\w-])--(?:dangerously-(?!skip-permissions(?![\w-]))[\w-]{2,60}|yolo)(?![\w-])",
    ),
    Rule(
        "destructive.git_force",
        "throws away commits of others",
        ("git ", "git\t"),
        rf"(?<![\w.-])git\b{_LINE}[ \t]push\b{_LINE}[ \t]-[a-eg-z]{{0,4}}f[a-z]{{0,4}}(?![\w-])",
        also=("push",),
    ),
    Rule(
        "destructive.rm_many",
        "removes more than it names",
        ("rm ", "rm\t"),
        rf"(?<![\w./-])rm\b(?:{_LINE}{_DASH}(?:[a-z]{{0,6}}r[a-z]{{0,6}}|-recursive)(?![\w-])"
        rf"|(?:[ \t]+--?[\w-]*){{0,6}}[ \t]+[\"']?[\w./~$@{{}}-]{{0,80}}\*(?:\.\w{{1,12}})?{_ENDS})",
    ),
    Rule(
        "destructive.tree_call",
        "removes a tree without asking",
        ("rmtree", "removedirs", "rmsync", "rm_rf", "rimraf", "deltree"),
        r"\b(?:rmtree|removedirs|rmsync|rm_rf|rimraf|deltree)[ \t]*\("
        r"|(?<![\w./-])(?:rimraf|deltree)[ \t]+[\w./*\"'~$-]",
    ),
    Rule(
        "destructive.git_discard",
        "throws away what is not committed, or names of commits",
        ("git ", "git\t", "gh "),
        rf"(?<![\w.-])git\b{_LINE}[ \t](?:checkout|restore)\b{_LINE}[ \t](?:\.|:/|\*){_ENDS}"
        rf"|(?<![\w.-])git\b{_LINE}[ \t]update-ref\b{_LINE}[ \t](?:-d|--delete)(?![\w-])|\bgh[ \t]+repo[ \t]+delete\b",
    ),
    Rule(
        "destructive.git_branch",
        "throws away a branch, merged or not",
        ("git ", "git\t"),
        rf"(?<![\w.-])git\b{_LINE}[ \t]branch\b(?:{_LINE}[ \t]-[A-Za-z]{{0,4}}D[A-Za-z]{{0,4}}(?![\w-])"
        rf"|(?={_LINE}[ \t](?:-[a-z]{{0,4}}d|--delete))"
        rf"(?={_LINE}[ \t](?:-[a-z]{{0,4}}f[a-z]{{0,4}}|--force)(?![\w-])))",
        also=("branch",),
        exact=True,
    ),
    Rule(
        "destructive.piped_file",
        "runs what it fetched",
        ("curl", "wget", "iwr", "invoke-webrequest"),
        r"\b(?:curl|wget|iwr|invoke-webrequest)\b",
        check=_runs_what_it_fetched,
    ),
    Rule("destructive.make_filesystem", "overwrites a disk", ("mkfs",), r"(?<![\w./-])mkfs(?:\.\w{1,12})?(?![\w./-])"),
    Rule(
        "branch.git_push",
        "pushes to a branch that everybody works from",
        ("git ", "git\t"),
        r"(?<![\w.-])git(?:[ \t]+(?:-c[ \t]+\S{1,120}|-{1,2}\S{1,80})){0,4}[ \t]+push"
        + _FLAGS
        + rf"(?:(?:[ \t]+{_NAME})?[ \t]+\+?(?:{_NAME}:)?(?:refs/heads/)?(?:main|master|trunk)(?![\w/-]|\.\w)"
        + r"|[ \t]+--all(?![\w-]))",
        also=("push",),
    ),
    Rule(
        "release.git_tags",
        "puts a release where others get it",
        ("git ", "git\t"),
        rf"(?<![\w.-])git\b{_LINE}[ \t]push\b{_LINE}[ \t]"
        r"(?:--(?:follow-)?tags(?![\w-])|refs/tags/|v?\d{1,4}\.\d[\w.+-]{0,40}(?![\w/]))",
        also=("push",),
    ),
    Rule(
        "branch.push",
        "pushes to a branch that everybody works from",
        ("push", "merg", "land", "commit"),
        r"\b(?:push(?:e[sd]|ing)?|merg(?:e[sd]?|ing)|land(?:s|ed|ing)?|commit(?:s|ted|ting)?)"
        r"(?:[ \t\n]+[\w'’`#./-]{1,40}){0,6}?[ \t\n]+(?:in)?to[ \t\n]+(?:the[ \t]+)?(?:origin[/ \t]+)?[`'\"*]{0,3}"
        + _SHARED,
        also=("main", "master", "trunk", "default branch"),
    ),
    Rule(
        "release.command",
        "puts something where others get it",
        (
            "publish",
            "twine",
            "docker",
            "podman",
            "gh ",
            "kubectl",
            "terraform",
            "tofu",
            "helm",
            "pulumi",
            "cdk",
            "serverless",
            "vercel",
            "netlify",
            "flyctl",
            "fly ",
            "firebase",
            "gem ",
            "gcloud",
        ),
        rf"\b(?:npm|pnpm|yarn|bun|cargo|poetry|flit|hatch|pdm|uv|vsce|lerna){_FLAGS}[ \t]+publish\b"
        r"|\btwine[ \t]+upload\b|\bgem[ \t]+push\b|\b(?:docker|podman)[ \t]+(?:image[ \t]+)?push\b"
        r"|\bgh[ \t]+(?:pr[ \t]+merge|release[ \t]+create|workflow[ \t]+run)\b"
        rf"|\b(?:kubectl|terraform|tofu|terragrunt)\b[^\n;|&]{{0,80}}?[ \t]apply\b|\bhelm[ \t]+(?:install|upgrade)\b"
        r"|\bpulumi[ \t]+up\b"
        rf"|\b(?:cdk|serverless|vercel|netlify|flyctl|fly|firebase){_FLAGS}[ \t]+(?:deploy|--prod)\b"
        r"|\bgcloud[ \t]+[\w -]{1,40}[ \t]deploy\b",
    ),
    Rule(
        "release.now",
        "asks for a release at once",
        ("deploy", "publish", "release", "ship"),
        r"\b(?:deploy|publish|release|ship)[ \t]+(?:(?:it|this|that|them|everything)[ \t]+)?(?:out[ \t]+)?"
        r"(?:now|immediately|right[ \t]+away|right[ \t]+now|at[ \t]+once|asap|today|tonight)\b",
    ),
    Rule(
        "dependency.install",
        "installs a package",
        (" install", " add", "\tinstall", " get ", " i ", " -s"),
        rf"(?<![\w./-]){_MANAGERS}{_FLAGS}[ \t]+(?:install|add|i|get|require){_FLAGS}"
        rf"[ \t]+{_ABOUT}[\w@.~/$\"'][\w@./:<>=~\[\]+-]{{0,100}}",
    ),
    Rule(
        "secret.environment_file",
        "names a file of secrets",
        (".env",),
        r"(?<![\w.])\.env(?:\.(?!(?:example|sample|template|dist|defaults?|schema|test|ci)\b)\w{1,20})?(?![\w-]|\.\w)",
    ),
    Rule(
        "secret.home_file",
        "names a file of keys",
        (".ssh", ".gnupg", ".aws", ".kube", ".netrc", ".pypirc", ".git-credentials", ".docker/", "id_", "/etc/shadow"),
        r"(?:~|\$home|\$\{home\}|%userprofile%|/home/[\w.-]{1,40}|/users/[\w.-]{1,40}|/root)[/\\]\."
        r"(?:ssh|gnupg|aws|kube|netrc|pypirc|git-credentials|docker)\b"
        r"|\bid_(?:rsa|dsa|ecdsa|ed25519)\b(?!\.pub\b)|(?<![\w.])\.(?:ssh/(?!known_hosts\b)\w|aws/credentials\b|kube/config\b"
        r"|netrc\b|pypirc\b|git-credentials\b)|/etc/shadow\b",
    ),
)
# Instructions: they do not count where they are negated, by a word before them or by the heading they stand under.
INSTRUCTIONS = (
    Rule(
        "release.instruction",
        "asks for a release",
        ("deploy", "publish", "merge"),
        r"(?:^|\n|[.!?;:][ \t]+)[ \t>*#-]{0,12}(?:\d{1,3}[.)][ \t]+)?(?:(?:please|then|now|also|finally)[ \t,]+)?"
        r"((?:deploy|publish)[ \t]+(?:the|it|this|that|to|your|our|all|everything|a|an|v?\d)\b"
        r"|merge[ \t]+(?:(?:the|this|that|my|your|our)[ \t]+)?(?:pr\b|pull[ \t]+request|mr\b|branch\b|#\d))",
    ),
    Rule(
        "dependency.instruction",
        "asks for a dependency",
        ("install",),
        rf"({INSTALL_VERB}(?:(?!{INSTALL_VERB})(?!\n[ \t]*\n)[^.!?;]){{0,200}}?\bdependenc(?:y|ies)\b)",
        also=("dependenc",),
    ),
    Rule("secret.public_repos", "works where everybody looks", ("public",), r"(\bpublic\s+repos\b)", also=("repos",)),
)
RULES: tuple[Rule, ...] = (*ACTIONS, *_COMMANDS, *TONGUES)

_BY_KIND = {
    "destructive": DESTRUCTIVE,
    "production": EXTERNAL,
    "credential": EXTERNAL,
    "branch": EXTERNAL,
    "release": EXTERNAL,
    "dependency": DEPENDENCY,
    "secret": SENSITIVE,
}
_BY_NAME = {
    "destructive.piped_script": REMOTE,
    "destructive.decoded_script": REMOTE,
    "destructive.piped_file": REMOTE,
    "credential.read": SENSITIVE,
}
# The classes of the published table, and the code of ours for a hit outside the body or behind a disguise.
BY_CATEGORY = {
    "destructive_command": DESTRUCTIVE,
    "side_effect": EXTERNAL,
    "non_demotable_side_effect": EXTERNAL,
    "sensitive_scope": SENSITIVE,
    "non_demotable_sensitive_scope": SENSITIVE,
    "content_sensitivity": "strict_content_sensitivity",
    "ambiguous_scope": "strict_ambiguous_scope",
}


def code_of(rule: Rule) -> str:
    """Return the reason code of what a rule finds."""
    return _BY_NAME.get(rule.code) or _BY_KIND[rule.code.partition(".")[0]]

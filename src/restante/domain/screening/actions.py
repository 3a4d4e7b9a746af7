"""Actions that screening looks for: commands that destroy, work on production, use of credentials.

A command is looked for wherever it stands, in a sentence as well: guidance that quotes one may be taken for one. A
word alone is none.
"""

from __future__ import annotations

from restante.domain.screening import checks
from restante.domain.screening.rule import Rule

_ARGUMENTS = r"((?:[ \t]+[^\s;|&`)]+){1,24})"
_DISK = r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|md[0-9]|loop)"
_COMMANDS = (
    Rule(
        "destructive.rm",
        "removes a tree without asking",
        ("rm ", "rm\t"),
        r"(?<![\w-])rm" + _ARGUMENTS,
        also=(" -", "\t-", "'-", '"-'),
        check=checks.is_forced_removal,
    ),
    Rule(
        "destructive.windows_delete",
        "removes a tree without asking",
        ("remove-item", "rd ", "rmdir ", "del "),
        r"\bremove-item\b(?=[^\n;|]{0,200}?[ \t]-r(?:ec|\b))(?=[^\n;|]{0,200}?[ \t]-fo)"
        r"|\b(?:rd|rmdir|del)[ \t]+(?:/[a-z][ \t]+){0,4}/[sq]\b",
    ),
    Rule(
        "destructive.find_delete", "removes what find finds", ("-delete",), r"\bfind[ \t][^\n;|]{1,300}?[ \t]-delete\b"
    ),
    Rule(
        "destructive.git",
        "throws away commits or work",
        ("git ", "git\t"),
        r"(?<![\w.-])git" + _ARGUMENTS,
        also=("push", "reset", "clean", "stash", "reflog", "filter-"),
        check=checks.is_lossy_git,
    ),
    Rule(
        "destructive.force_push",
        "throws away commits of others",
        ("force",),
        r"\bforce[ -]push(?:ing)?\s+(?:to|over|the|your|my|it|this|that|origin|upstream|main|master|develop)\b",
        also=("push",),
    ),
    Rule(
        "destructive.sql_drop",
        "drops a database or table",
        ("drop",),
        r"\bdrop\s+(?:the\s+)?(?:database|table|schema|keyspace|tablespace)s?\b"
        r"(?!\s+(?:support|formatting|validation|layout|rows?|cells?|styling|styles?|views?|headers?|of|sorting|component|"
        r"borders?)\b)|\bdrop\s+the\s+\w{1,40}\s+(?:database|table|schema)\b",
        also=("database", "table", "schema", "keyspace"),
    ),
    Rule(
        "destructive.sql_truncate",
        "empties a table",
        ("truncate ",),
        r"\btruncate\s+table\b|\b(?-i:TRUNCATE)\s+[\"`\w.]{1,64}\s*(?:;|$|\b(?:CASCADE|RESTART)\b)",
    ),
    Rule(
        "destructive.sql_delete",
        "deletes every row of a table",
        ("delete",),
        r"\bdelete\s+from\s+([\"`\[]?[\w.]{1,64}[\"`\]]?)",
        also=("from",),
        check=checks.is_unbounded_delete,
    ),
    Rule(
        "destructive.database",
        "deletes a database",
        ("dropdb ", "flushall", "flushdb", "dropdatabase("),
        r"\bdropdb[ \t]+[\w-]|\bflush(?:all|db)\b|\bdropdatabase\(",
    ),
    Rule(
        "destructive.disk",
        "overwrites a disk",
        ("mkfs", "/dev/", "wipefs", "blkdiscard", "luksformat", "format "),
        r"\bmkfs(?:\.\w{1,12}\b|[ \t]+[-/])|\bdd\b[^\n;|&]{0,200}?\bof=/dev/(?!null|zero|std|shm/|fd/|tty)|>[ \t]*"
        + _DISK
        + r"|\b(?:tee|cp|cat|shred|wipefs|blkdiscard)\b[^\n;|&>]{0,120}?[ \t]"
        + _DISK
        + r"|\b(?:wipefs|blkdiscard)[ \t]+-|\bluksformat\b|\bformat[ \t]+[a-z]:(?=\s|$|[`/])",
    ),
    Rule("destructive.shred", "overwrites files", ("shred ",), r"\bshred[ \t]+(?:-\w|--\w|/|~|\.{0,2}/|[\w-]+\.\w)"),
    Rule(
        "destructive.chmod",
        "gives everybody every right",
        ("chmod",),
        r"\bchmod[ \t]+(?:-{1,2}[\w-]+[ \t]+){0,4}(?:0?[02-7]?777|(?:a|o|ugo|go|uo)[+=]rwx)\b",
    ),
    Rule(
        "destructive.cluster",
        "deletes what runs in a cluster",
        ("kubectl", "helm", "oc "),
        r"\b(?:kubectl|helm|oc)(?:[ \t]+--?[\w-]+(?:=\S{1,80}|[ \t]+[\w./:-]+)?){0,4}[ \t]+(?:delete|uninstall)\b",
        also=("delete", "uninstall"),
    ),
    Rule(
        "destructive.infrastructure",
        "destroys infrastructure",
        ("terraform", "tofu", "pulumi", "terragrunt", "cdk", "vagrant", "docker", "podman", "aws ", "gcloud", "az "),
        r"\b(?:terraform|tofu|pulumi|terragrunt|cdk|vagrant)\b(?:[ \t]+-[\w=./-]+){0,4}[ \t]+"
        r"(?:destroy|run-all[ \t]+destroy)\b|\b(?:docker|podman)[ \t]+(?:system[ \t]+prune|volume[ \t]+(?:rm|prune))\b"
        r"|\baws\b[^\n;|&]{0,120}?[ \t](?:delete-|terminate-|rb[ \t]|rm[ \t][^\n;|&]{0,120}?--recursive)"
        r"|\b(?:gcloud|az)\b[^\n;|&]{0,120}?[ \t]delete\b",
        also=("destroy", "prune", "volume", "delete", "terminate-", " rb ", "--recursive"),
    ),
    Rule(
        "destructive.piped_script",
        "runs a script straight from the network",
        ("curl", "wget", "fetch ", "invoke-webrequest", "iwr"),
        r"\b(?:curl|wget|fetch|invoke-webrequest|iwr)\b[^\n]{0,300}?\|[ \t]*"
        r"(?:sudo[ \t]+(?:-\w+[ \t]+){0,3})?(?:env[ \t]+)?(?:/[\w/.-]{0,40}/)?"
        r"(?:(?:ba|z|da|k|c|fi)?sh|iex|perl|ruby|node|python3?(?=[ \t]*-?[ \t]*(?:$|[\n;|&\"'`)])))"
        r"(?![\w.-])|\b(?:(?:ba|z|da|k)?sh|source|eval|\.)[ \t]+(?:-c[ \t]+)?[\"']?[<$]\([ \t]*(?:curl|wget)\b",
    ),
    Rule(
        "destructive.fork_bomb",
        "starts processes without end",
        ("(){", "() {", "( )"),
        r"(?<![\w:])(\w{1,30}|:)[ \t]*\([ \t]*\)[ \t]*\{[ \t\n]*\1[ \t]*\|[ \t]*\1[ \t]*&",
    ),
    Rule(
        "destructive.lose_file",
        "throws something away for good",
        ("/dev/null", "crontab -r", "kill -9 -1"),
        r"\bmv[ \t]+[^\n;|&]{1,200}?[ \t]/dev/null\b|\bcrontab[ \t]+-r\b|\bkill[ \t]+-9[ \t]+-1\b",
    ),
)

_VALUABLES = (
    r"(?:data(?:bases?)?|tables?|users?|records?|rows|backups?|customers?|accounts?|volumes?|buckets?|files|branches|"
    r"repos(?:itories)?|namespaces?|clusters?|snapshots?|instances?|servers?)"
)
# Words between a verb and its object; those that begin something new are not among them.
_BETWEEN = (
    r"(?:\s+(?!(?:when|if|and|or|to|for|in|of|on|from|by|with|without|before|after|that|which|until|but|so|as|is|are)\b)"
    r"[\w'/-]{1,30}){0,4}?"
)
# A noun that is followed by another noun (the token parser) is not the object itself.
_ENDS = (
    r"(?=\s*(?:[.,;:!?)\]\"'`]|$|\n)|\s+(?:for|of|on|at|now|today|tonight|immediately|again|everywhere|before|after|once|"
    r"first|and|then|in|from|to|with|via|through|when|as|using|every|if|so|because)\b)"
)
_PROD = (
    r"\s+(?:the\s+|our\s+)?(?:prod|production|live)\b(?![-_\w]|\.\w|"
    r"\s+(?:mode|build|builds|bundle|config\w*|profile|flag))"
)
_CREDENTIAL = r"(?:keys?|secrets?|tokens?|passwords?|passphrases?|credentials?|certificates?|certs?)"
_INSTRUCTIONS = (
    Rule(
        "destructive.delete_all",
        "deletes many things at once",
        ("delete", "wipe", "erase", "destroy", "purge", "nuke"),
        r"\b(?:delete|wipe|erase|destroy|purge|nuke)\s+(?:all|every|everything)\s+(?:of\s+)?(?:(?:the|our|my|their|its|these|"
        r"those|production|customer|user|existing|old)\s+){0,3}"
        + _VALUABLES
        + r"\b|\b(?:delete|wipe|erase|destroy|purge)\s+everything\b|\b(?:wipe|erase|destroy|nuke)\s+(?:the|our|my)\s+"
        r"(?:\w{1,20}\s+)?(?:databases?|disks?|drives?|servers?|clusters?|backups?|volumes?|data)\b",
    ),
    Rule(
        "production.release",
        "puts something into production",
        ("prod", "live"),
        r"\b(?:push|deploy|releas|shipp?|publish|promot|roll|merg|migrat|appl|rollout)(?:e|y)?(?:ing)?"
        r"(?:\s+[\w'./:@-]{1,40}){0,5}?\s+(?:to|into|onto|in|on|out\s+to)"
        + _PROD
        + r"|\b(?:run|execute|apply)(?:\s+[\w'./:-]{1,40}){0,5}?\s+(?:on|against)"
        + _PROD,
        also=(
            "push",
            "deploy",
            "releas",
            "ship",
            "publish",
            "promot",
            "roll",
            "merg",
            "migrat",
            "appl",
            "run",
            "execut",
        ),
    ),
    Rule(
        "production.command",
        "acts on production",
        ("prod",),
        r"\b(?:deploy|apply|push|publish|vercel|netlify|serverless|sls|eb|fly|up|sync|exec|delete|migrate)\b"
        r"[^\n;|&]{0,80}?[ \t]--?"
        r"(?:(?:env|environment|stage|target|context|workspace|namespace|profile|[nes])(?:=|[ \t]+))?"
        r"prod(?:uction)?(?![-\w])|\b(?:kubectl|helm|terraform|aws)\b[^\n;|&]{0,80}?--?(?:kube-)?"
        r"(?:context|profile|workspace)(?:=|[ \t]+)\S{0,30}prod",
        also=(" -", "\t-"),
    ),
    Rule(
        "production.git_push",
        "pushes to production",
        ("git ", "git\t"),
        r"(?<![\w.-])git" + _ARGUMENTS,
        also=(" prod", "\tprod", ":prod", " live", ":live"),
        check=checks.is_push_to_production,
    ),
    Rule(
        "production.data",
        "deletes something of production",
        ("prod",),
        r"\b(?:delete|drop|wipe|erase|destroy|purge|truncate|reset|restore|overwrite)\s+(?:the\s+|our\s+|all\s+)?"
        r"(?:prod|production|live)\s+(?:\w{1,20}\s+)?" + _VALUABLES + r"\b",
    ),
    Rule(
        "credential.rotate",
        "changes or revokes credentials",
        ("rotat", "revok", "regenerat", "reissu", "invalidat"),
        r"\b(?:rotat|revok|regenerat|reissu|invalidat)(?:e|ing)" + _BETWEEN + r"\s+" + _CREDENTIAL + r"\b" + _ENDS,
        also=("key", "secret", "token", "passw", "passphrase", "credential", "cert"),
    ),
    Rule(
        "credential.change",
        "changes or revokes credentials",
        ("password", "passphrase", "credential", "secret", " key", " token"),
        r"\b(?:reset|chang(?:e|ing)|delete|deleting|remove|replac(?:e|ing)|disable|renew|expire)"
        + _BETWEEN
        # Only what says whose or what kind: a map has keys and a parser has tokens, too.
        + r"\s+(?:(?:root|admin|administrator|user|users'|account|database|db|service|login|master)(?:'s)?\s+passwords?"
        r"|(?:api|access|ssh|gpg|signing|deploy|encryption|aws|kms|private|host)[\s-]keys?"
        r"|(?:access|refresh|api|auth|bearer|service|github|npm|deploy|bot)[\s-]tokens?|(?:client|api|app)[\s-]secrets?"
        r"|(?:the|our|my|all)\s+credentials)\b(?=\s*(?:[.,;:!?)\"'`]|$|\n)|\s+(?:for|of|on|at|now|today|and|then|everywhere)\b)",
        also=("reset", "chang", "delet", "remov", "replac", "disabl", "renew", "expire"),
    ),
    Rule(
        "credential.command",
        "changes or revokes credentials",
        ("aws ", "gh ", "vault ", "passwd ", "chpasswd", "gcloud "),
        r"\baws[ \t]+iam[ \t]+(?:delete|update|create|reset)-|\bgh[ \t]+secret[ \t]+(?:set|delete|remove)\b"
        r"|\bvault[ \t]+(?:token|lease)[ \t]+revoke\b|(?<![\w/.-])passwd[ \t]+(?:-\w[ \t]+)?(?:root|admin|\$)"
        r"|\|[ \t]*chpasswd\b|\bgcloud[ \t]+iam\b[^\n;|&]{0,80}?keys[ \t]+(?:create|delete)\b",
    ),
    Rule(
        "credential.read",
        "reads or hands out a file of credentials",
        ("id_rsa", "id_ed25519", "id_ecdsa", ".aws/credentials", ".netrc", ".pypirc", ".npmrc", ".env", ".kube/config"),
        r"\b(?:cat|less|head|tail|scp|curl|base64|print|echo|send|upload|post|paste|e?mail|share)\b[^\n]{0,80}?"
        r"(?:id_(?:rsa|ed25519|ecdsa)(?!\.pub|\w)|\.aws/credentials|\.netrc\b|\.pypirc\b|\.npmrc\b|\.kube/config\b"
        r"|(?<![\w.])\.env(?![\w.-]))",
    ),
)

ACTIONS: tuple[Rule, ...] = (*_COMMANDS, *_INSTRUCTIONS)

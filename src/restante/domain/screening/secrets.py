"""Secrets that screening looks for: token families, places where a secret stands, the specific before the general.

The families' forms are those that their issuers document.
"""

from __future__ import annotations

from restante.domain.screening import checks
from restante.domain.screening.rule import Rule


def _token(name: str, title: str, keywords: tuple[str, ...], pattern: str) -> Rule:
    """Return the rule of a token family: nothing alphanumeric before it, no placeholder behind its prefix."""
    bounded = r"(?<![A-Za-z0-9])" + pattern
    return Rule(f"secret.{name}", title, keywords, bounded, check=checks.is_token, exact=True)


_SECRET_FORMS = (
    Rule(
        "secret.private_key",
        "a private key",
        ("private key", "putty-user-key-file"),
        r"(-{4,5} ?BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}|PuTTY-User-Key-File-[0-9]:)"
        r"(?:[^-]++|-(?!-{3}))*+",
    ),
    _token("age_key", "an age secret key", ("AGE-SECRET-KEY-1",), r"(AGE-SECRET-KEY-1)[0-9A-Z]{50,}"),
    _token(
        "github_token",
        "a GitHub token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"(gh[pousr]_(?=[A-Za-z0-9]{20})|github_pat_)[A-Za-z0-9_]{20,}",
    ),
    _token(
        "model_api_key",
        "an API key of a model provider",
        ("sk-",),
        r"(sk-(?:proj|svcacct|admin|service|ant|or|lf)-(?:[a-z]{2,6}[0-9]{2}-|v1-)?(?=[\w-]{16})"
        r"|sk-(?=[A-Za-z0-9]{20}))[A-Za-z0-9_-]{16,}",
    ),
    _token(
        "aws_key_id",
        "an AWS access key id",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        r"(AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    ),
    Rule(
        "secret.aws_secret_key",
        "an AWS secret access key",
        ("secret",),
        r"(secret[ _-]?(?:access[ _-]?)?key[\"'`]{0,2}[ \t]{0,8}(?:=>|[:=])[ \t]{0,8}[\"'`]?)"
        r"[A-Za-z0-9/+=]{40}(?![\w/+])",
        also=("key",),
        check=checks.is_token,
    ),
    _token(
        "slack_token",
        "a Slack token",
        ("xox", "xapp-"),
        r"(xox[abeoprs](?:\.xox[bp])?-|xapp-[0-9]-)[A-Za-z0-9-]{10,}",
    ),
    _token(
        "webhook",
        "the address of a webhook, which is its password",
        ("hooks.slack.com/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "webhook.office.com/"),
        r"(hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/|webhook\.office\.com/)"
        r"[A-Za-z0-9@+/_-]{20,}",
    ),
    _token("jwt", "a JSON web token", ("eyJ",), r"(?<![_-])(eyJ)[\w-]{8,}+\.[\w-]{8,}+\.[\w-]{8,}"),
    Rule(
        "secret.authorization",
        "the value of an Authorization header",
        ("bearer", "authorization"),
        r"((?:authorization[\"'`]?[ \t]{0,8}[:=][ \t]{0,8}[\"'`]?(?:bearer|basic|token|apikey|bot)|\bbearer)[ \t]{1,8})"
        r"([A-Za-z0-9._~+/=-]{8,})",
        check=checks.is_credential_header,
    ),
    Rule(
        "secret.url_password",
        "a password in an address",
        ("://",),
        r"(://[^\s/:@\"'<>|\\^`{}]{0,64}:)([^\s/@\"'<>]{2,256})(?=@[A-Za-z0-9\[$<{%])",
        also=("@",),
        check=checks.is_login,
    ),
)

# Families whose form is a prefix and a run of characters: name, title, prefix, characters, least length.
_FAMILIES = (
    ("google_api_key", "a Google API key", "AIza", "[A-Za-z0-9_-]", 30),
    ("google_oauth", "a Google OAuth token", "ya29.", "[A-Za-z0-9_-]", 20),
    ("google_client_secret", "a Google client secret", "GOCSPX-", "[A-Za-z0-9_-]", 20),
    ("npm_token", "an npm token", "npm_", "[A-Za-z0-9]", 30),
    ("pypi_token", "a PyPI token", "pypi-A", "[A-Za-z0-9_-]", 16),
    ("rubygems_key", "a RubyGems key", "rubygems_", "[a-f0-9]", 40),
    ("crates_token", "a crates.io token", "cio", "[A-Za-z0-9]", 32),
    ("gitlab_token", "a GitLab token", "gl(?:pat|ptt|cbt|dt|rt|ft|soat|imt|agent|oas)-", "[A-Za-z0-9_.-]", 16),
    ("stripe_key", "a Stripe key", "[sr]k_(?:live|test)_", "[A-Za-z0-9]", 10),
    ("webhook_secret", "a webhook's signing secret", "whsec_", "[A-Za-z0-9+/=]", 20),
    ("huggingface_token", "a Hugging Face token", "hf_", "[A-Za-z0-9]", 30),
    ("sendgrid_key", "a SendGrid key", "SG.", "[A-Za-z0-9_.-]", 40),
    ("digitalocean_token", "a DigitalOcean token", "do[opr]_v1_", "[a-f0-9]", 40),
    ("dockerhub_token", "a Docker Hub token", "dckr_(?:pat|oat)_", "[A-Za-z0-9_-]", 20),
    ("databricks_token", "a Databricks token", "dapi", "[a-f0-9]", 32),
    ("shopify_token", "a Shopify token", "shp(?:at|ca|pa|ss)_", "[A-Fa-f0-9]", 32),
    ("square_token", "a Square token", "sq0(?:atp|csp)-", "[A-Za-z0-9_-]", 20),
    ("linear_key", "a Linear key", "lin_(?:api|oauth)_", "[A-Za-z0-9]", 30),
    ("notion_token", "a Notion token", "ntn_", "[A-Za-z0-9]", 40),
    ("vault_token", "a Vault token", "hv[sbr].", "[A-Za-z0-9_-]", 24),
    ("grafana_token", "a Grafana token", "gl(?:sa|c)_", "[A-Za-z0-9+/=_]", 30),
    ("newrelic_key", "a New Relic key", "NRAK-", "[A-Z0-9]", 20),
    ("postman_key", "a Postman key", "PMAK-", "[a-f0-9-]", 40),
    ("pulumi_token", "a Pulumi token", "pul-", "[a-f0-9]", 40),
    ("groq_key", "a Groq key", "gsk_", "[A-Za-z0-9]", 40),
    ("xai_key", "an xAI key", "xai-", "[A-Za-z0-9]", 40),
    ("perplexity_key", "a Perplexity key", "pplx-", "[A-Za-z0-9]", 40),
    ("replicate_token", "a Replicate token", "r8_", "[A-Za-z0-9]", 36),
    ("figma_token", "a Figma token", "fig[dou]_?_", "[A-Za-z0-9_-]", 36),
    ("supabase_key", "a Supabase key", "sb(?:p|_secret)_", "[A-Za-z0-9_]", 30),
    ("planetscale_token", "a PlanetScale token", "pscale_(?:tkn|pw|oauth)_", "[A-Za-z0-9_.-]", 30),
    ("doppler_token", "a Doppler token", "dp.(?:pt|st|ct|sa|scim|audit).", "[A-Za-z0-9._-]", 40),
    ("tailscale_key", "a Tailscale key", "tskey-", "[A-Za-z0-9-]", 20),
    ("sentry_token", "a Sentry token", "sntry[su]_", "[A-Za-z0-9+/=_]", 30),
    ("atlassian_token", "an Atlassian token", "AT(?:ATT3|CTT3|BB)", "[A-Za-z0-9_=-]", 28),
    ("mailgun_key", "a Mailgun key", "key-", "[a-f0-9]", 32),
    ("fly_token", "a Fly.io token", "fm[12]_", "[A-Za-z0-9+/=_]", 40),
    ("telegram_token", "a Telegram bot token", "[0-9]{8,10}:AA", "[A-Za-z0-9_-]", 32),
    ("onepassword_token", "a 1Password token", "ops_eyJ", "[A-Za-z0-9_=-]", 40),
)
# What of a family's prefix is looked for first, where the prefix is not plain text.
_PLAIN_PREFIXES = {
    "gitlab_token": (
        "glpat-",
        "glptt-",
        "glcbt-",
        "gldt-",
        "glrt-",
        "glft-",
        "glsoat-",
        "glimt-",
        "glagent-",
        "gloas-",
    ),
    "stripe_key": ("k_live_", "k_test_"),
    "digitalocean_token": ("_v1_",),
    "dockerhub_token": ("dckr_",),
    "shopify_token": ("shpat_", "shpca_", "shppa_", "shpss_"),
    "square_token": ("sq0",),
    "linear_key": ("lin_",),
    "vault_token": ("hvs.", "hvb.", "hvr."),
    "grafana_token": ("glsa_", "glc_"),
    "figma_token": ("figd_", "figo_", "figu_"),
    "supabase_key": ("sbp_", "sb_secret_"),
    "planetscale_token": ("pscale_",),
    "doppler_token": ("dp.",),
    "sentry_token": ("sntrys_", "sntryu_"),
    "atlassian_token": ("ATATT3", "ATCTT3", "ATBB"),
    "fly_token": ("fm1_", "fm2_"),
    "telegram_token": (":AA",),
}

_VALUE = (
    r"(?:\"(?P<double>[^\"\n]{1,200})\"?|'(?P<single>[^'\n]{1,200})'?|`(?P<tick>[^`\n]{1,200})`?"
    r"|(?P<bare>[^\s\"'`,;&|<>(){}\[\]]{4,200}))"
)
# How the names of secrets end: "key" and "pass" alone stand in many a clean text.
_NAME_ENDS = (
    *("token", "secret", "passw", "passphrase", "pass:", "pass=", "pass'", 'pass"', "pwd", "cookie", "credential"),
    *("_key", "-key", "ikey", "pkey", "skey", "tkey", "hkey", "nkey", "rkey", "ekey", "dkey", "gkey"),
)
_SECRET_PLACES = (
    Rule(
        "secret.cookie",
        "a session cookie",
        ("cookie",),
        r"((?:set-)?cookie[\"'`]?[ \t]{0,8}:[ \t]{0,8}[\"'`]?[\w.-]{1,64}=)[^\s;\"'`<]{12,}",
        check=checks.is_token,
    ),
    Rule(
        "secret.login",
        "a password in a command",
        ("curl",),
        r"(\bcurl\b[^\n]{0,200}?[ \t](?:-u|--user)[ \t=]{0,3}[\"']?[^\s:\"'@]{1,64}:)([^\s\"'@]{3,128})",
        also=("-u", "--user"),
        check=checks.is_login,
    ),
    Rule(
        "secret.login",
        "a password in a command",
        ("login", "identified", "password"),
        r"(\blogin[ \t]+\S{1,64}[ \t]+password[ \t]+|\b(?:identified[ \t]+by|password)[ \t]+')([^\s']{4,128})",
        check=checks.is_login,
    ),
    Rule(
        "secret.assignment",
        "a value given to a name that says secret",
        _NAME_ENDS,
        r"(?P<shown>(?P<name>(?:api|app|access|account|auth|client|encryption|master|private|secret|shared|signing|"
        r"storage|subscription)[_-]?(?:access[_-]?)?key|token|secret|passw(?:or)?d|passphrase|credential|cookie|"
        r"(?<![A-Za-z])(?:pass|pwd))(?P<suffix>[A-Za-z0-9_-]{0,24})[\"'`\]]{0,2}"
        r"(?:[ \t]{0,8}(?::[ \t]{0,4}[A-Za-z_][\w.\[\]| ]{0,30}?[ \t]{0,4}=(?![=>])|:=|=>|={1,3}|:)[ \t]{0,8}"
        r"|[ \t]is[ \t]))" + _VALUE,
        also=(":", "=", " is "),
        check=checks.is_assigned_secret,
    ),
    Rule(
        "secret.option",
        "a secret on a command line",
        ("--pass", "--token", "--secret", "--api", "--access", "--auth", "-token", "-password"),
        r"(?P<shown>(?<![\w-])--?(?:[a-z]{1,12}-){0,2}(?P<name>passw(?:or)?d|passphrase|pass|token|secret|"
        r"(?:api|access|auth|secret)-?key)(?P<suffix>)[ \t]{1,4})" + _VALUE,
        check=checks.is_assigned_secret,
    ),
)


def _family(name: str, title: str, prefix: str, characters: str, least: int) -> Rule:
    keywords = _PLAIN_PREFIXES.get(name, (prefix,))
    literal = prefix.replace(".", r"\.")
    return _token(name, title, keywords, f"({literal}){characters}{{{least},}}")


SECRETS: tuple[Rule, ...] = (*_SECRET_FORMS, *(_family(*row) for row in _FAMILIES), *_SECRET_PLACES)

"""``init`` and ``agent``: projects and agents of a tree."""

from __future__ import annotations

from restante.domain.errors import Conflict, RestanteError, UsageError
from restante.domain.text import visible
from restante.faces.oacp.ends import FAILED, HELD, USAGE, Flags, Verbs, clock, fail, home_of, say, say_json, tell

_EXISTS = HELD
_USUAL = "claude,codex,cursor"


def init(words: list[str]) -> int:
    """Make a project; 3 where there is one already."""
    flags = Flags("init", "Make a project. What is there is never touched.")
    flags.add_argument("project_name")
    flags.add_argument("--repo", default="", help="the repository that it is about")
    flags.add_argument("--link", action="append", default=[], metavar="SRC:DST", help="artifacts/DST -> REPO/SRC")
    flags.add_argument("--agents", default=_USUAL)
    flags.add_argument("--fail-if-exists", action="store_true", help="as always")
    flags.add_argument("--dry-run", action="store_true")
    flags.home()
    flags.json()
    given = flags.parse_args(words)
    from restante.wiring.founding import Founder, Founding

    founder = Founder(home_of(given.oacp_dir), clock().now())
    root = founder.root(given.project_name)
    agents = tuple(one.strip() for one in given.agents.split(",") if one.strip())
    try:
        links = tuple(_link(one) for one in given.link)
        steps = founder.plan_project(Founding(given.project_name, agents, given.repo, links))
        if given.dry_run:
            plan = {"version": 1, "project_root": root, "can_apply": True, "reason": None}
            if given.json:
                say_json({**plan, "actions": [one.report() for one in steps]})
            else:
                say("\n".join([f"Plan: {root}", *(f"  {one.operation}: {one.path}" for one in steps)]))
            return 0
        founder.apply(steps, given.project_name)
    except Conflict as error:
        if given.json:
            say_json({"version": 1, "error": "already_exists", "message": error.message})
            return _EXISTS
        return fail(error, code=_EXISTS)
    except RestanteError as error:
        return fail(error, as_json=given.json, code=USAGE if isinstance(error, UsageError) else FAILED)
    if given.json:
        done: dict[str, object] = {"project_root": root, "workspace_path": f"{root}/workspace.json"}
        links_made = [one.path for one in steps if one.operation == "create_symlink"]
        say_json({**done, "repo_dir": given.repo or None, "created_links": links_made, "warnings": [], "version": 1})
    else:
        say(f"Initialized project workspace: {root}")
    return 0


def _link(text: str) -> tuple[str, str]:
    source, colon, name = text.partition(":")
    if not (source and colon and name):
        raise UsageError(f"--link {text!r} is not SRC:DST")
    return source, name


def agent(words: list[str]) -> int:
    """Run a word of ``agent``."""
    return Verbs("agent", {"add": add, "init": begin, "sync": sync, "show": show, "list": listed}).run(words)


def begin(words: list[str]) -> int:
    """Make an agent's global profile; one that is there stays as it is."""
    flags = Flags("agent init", "Make an agent's global profile.")
    flags.add_argument("name")
    flags.add_argument("--runtime", required=True)
    flags.home()
    given = flags.parse_args(words)
    from restante.wiring.founding import Founder

    founder = Founder(home_of(given.oacp_dir), clock().now())
    try:
        made = founder.apply(founder.plan_profile(given.name, given.runtime), "")
    except RestanteError as error:
        return fail(error, code=FAILED)
    say(f"Created global profile: {made[0]}" if made else f"Profile already exists (unchanged): {given.name}")
    return 0


def sync(words: list[str]) -> int:
    """Note in the global profiles which agents belong to which projects."""
    flags = Flags("agent sync", "Note in the global profiles which agents belong to which projects.")
    flags.home()
    given = flags.parse_args(words)
    from restante.wiring.founding import Founder

    try:
        made, changed, kept = Founder(home_of(given.oacp_dir), clock().now()).sync()
    except RestanteError as error:
        return fail(error, code=FAILED)
    counts = f"created {made}, updated {changed}, unchanged {kept}"
    say(f"Agent registry synchronized: {made + changed + kept} agent(s); {counts}.")
    return 0


def show(words: list[str]) -> int:
    """Show an agent's profile."""
    flags = Flags("agent show", "Show an agent's profile.")
    flags.add_argument("name")
    flags.add_argument("--project", default="", help="put what its card there says over it")
    flags.home()
    given = flags.parse_args(words)
    from restante.wiring.founding import profile_of

    try:
        say(visible(profile_of(home_of(given.oacp_dir), given.name, given.project)).rstrip("\n"))
    except RestanteError as error:
        return fail(error, code=FAILED)
    return 0


def add(words: list[str]) -> int:
    """Add an agent to a project; what it has already stays as it is."""
    flags = Flags("agent add", "Add an agent to a project.")
    flags.add_argument("project_name")
    flags.add_argument("agent_name")
    flags.add_argument("--runtime", default="", choices=("claude", "codex", "cursor", "gemini"))
    flags.home()
    given = flags.parse_args(words)
    from restante.wiring.founding import Founder

    founder = Founder(home_of(given.oacp_dir), clock().now())
    try:
        steps = founder.plan_agent(given.project_name, given.agent_name, given.runtime)
        made = founder.apply(steps, given.project_name)
    except RestanteError as error:
        return fail(error, code=USAGE if isinstance(error, UsageError) else FAILED)
    say(f"Agent {given.agent_name!r} added to project {given.project_name!r}:")
    for path in made:
        say(f"  + {path}")
    if not made:
        tell("note: it had all of it already")
    return 0


def listed(words: list[str]) -> int:
    """List the agents of a tree or a project."""
    flags = Flags("agent list", "List the agents that a tree knows.")
    flags.add_argument("--project", default="")
    flags.home()
    flags.json()
    given = flags.parse_args(words)
    from restante.wiring.founding import known_agents

    try:
        found = known_agents(home_of(given.oacp_dir), given.project)
    except RestanteError as error:
        return fail(error, code=FAILED)
    if given.json:
        say_json(found)
        return 0
    for one in found:
        projects = one["projects"]
        assert isinstance(projects, list)
        say(f"  {one['agent']}  runtime={one['runtime']}  memberships={','.join(projects) or '-'}")
    return 0

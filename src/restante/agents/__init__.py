"""Floor 3: what is particular to each agent program.

Each line stands on those above it::

    programs  habits (what is so of every program); claude, codex, gemini (where it is not: files, trust, what switches
              hooks off); quirks (whose is which); hookline, calling (what is run)
    texts     json_scan, json_layout, json_edit; toml_edit; managed_block (text of others, kept byte for byte)
    files     files (all changes or none), regular, gitplaces, guidance, skill, check_inbox_skill (what is told),
              plugin, original, holding
    tools     mcp_servers (where each is told of restante mcp), mcp_json, mcp_hooks, mcp_checks
    setting   ground (a worktree as the programs see it), installer, removing, trust; checks (for the doctor),
              readiness (the same of hooks alone)
    asking    app_server_pipe (the allowlist), app_server, codex_threads
    waking    wake (the closed list of ways to wake a session)
"""

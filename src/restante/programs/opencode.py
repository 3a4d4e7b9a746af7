"""opencode (seen with 1.18.33): a plugin instead of hooks, and a server through which a session is woken.

The plugin starts the guard as the other programs' hooks do, with the same words and the same JSON, so that without
mail no Python starts; and it puts what comes back where the model reads it. It names the session to what tools start,
which opencode itself does not. A model's text that ends a turn is a checkpoint too: what is left there as one more
message is read in the same turn, also by ``opencode run``, which ends with its turn.
"""

from restante.domain.program import Event, Plugin, Program, Server

_TEXT = """\
// restante: mail for this session, shown at checkpoints. `restante install` writes this file, `uninstall` removes it.
import { spawn } from "node:child_process"

const BIN = @BIN@
const SECONDS = 10

// Runs the guard, which starts nothing more where there is no mail. Whatever goes wrong, the turn goes on.
function checkpoint(event, session, directory, held) {
  return new Promise((resolve) => {
    const give_up = () => resolve({})
    try {
      const env = { ...process.env, RESTANTE_BIN: BIN, RESTANTE_AGENT: "opencode", RESTANTE_EVENT: event }
      const guard = spawn("/bin/sh", [BIN + "/restante-hook"], {
        cwd: directory, env, stdio: ["pipe", "pipe", "ignore"], timeout: SECONDS * 1000,
      })
      const parts = []
      guard.on("error", give_up)
      guard.stdin.on("error", () => {})
      guard.stdout.on("data", (part) => parts.push(part))
      guard.on("close", () => {
        try {
          resolve(JSON.parse(Buffer.concat(parts).toString() || "{}"))
        } catch {
          give_up()
        }
      })
      guard.stdin.end(JSON.stringify({ session_id: session, hook_event_name: event, stop_hook_active: held }) + "\\n")
    } catch {
      give_up()
    }
  })
}

export const Restante = async ({ client, directory }) => {
  const begun = new Map() // session -> whether it is one of a person, and not of a subagent
  const held = new Set() // sessions whose last turn was begun by this plugin

  const isMain = (id) => {
    if (!begun.has(id)) {
      const asked = client.session.get({ path: { id } }).then((answer) => !answer.data?.parentID, () => false)
      begun.set(id, asked)
    }
    return begun.get(id)
  }
  const ask = async (event, id, isHeld = false) => {
    if (!id || !(await isMain(id))) return ""
    const told = await checkpoint(event, id, directory, isHeld)
    return told.reason ?? told.hookSpecificOutput?.additionalContext ?? ""
  }
  const put = async (id, text, noReply) => {
    try {
      const body = { noReply, parts: [{ type: "text", text, synthetic: true }] }
      await (noReply ? client.session.prompt : client.session.promptAsync).call(client.session, { path: { id }, body })
    } catch {
      // It is shown again with a later checkpoint.
    }
  }

  return {
    "shell.env": async (input, output) => {
      if (input.sessionID) output.env.OPENCODE_SESSION_ID = input.sessionID
    },
    "chat.message": async (input, output) => {
      const id = input.sessionID
      if (output.parts.every((part) => part.synthetic)) return // what this plugin put there itself
      held.delete(id)
      const isNew = !begun.has(id)
      const texts = [isNew ? await ask("SessionStart", id) : "", await ask("UserPromptSubmit", id)].filter(Boolean)
      const last = output.parts.at(-1)
      if (!texts.length || !last) return
      const part = { id: last.id + "0", sessionID: id, messageID: output.message.id, type: "text", synthetic: true }
      output.parts.push({ ...part, text: texts.join("\\n\\n") })
    },
    "tool.execute.after": async (input, output) => {
      // Tools of other servers have no text here that could be added to: the next checkpoint shows it.
      if (typeof output?.output !== "string") return
      const text = await ask("PostToolUse", input.sessionID)
      if (text) output.output += "\\n\\n" + text
    },
    "experimental.text.complete": async (input) => {
      const text = await ask("PostToolUse", input.sessionID)
      if (text) await put(input.sessionID, text, true)
    },
    event: async ({ event }) => {
      if (event.type === "session.deleted") await ask("SessionEnd", event.properties.info.id)
      if (event.type !== "session.idle") return
      const id = event.properties.sessionID
      const text = await ask("Stop", id, held.has(id))
      held.delete(id)
      if (!text) return
      held.add(id)
      await put(id, text, false)
    },
  }
}
"""

PROGRAM = Program(
    name="opencode",
    title="opencode",
    plugin=Plugin(".opencode/plugin/restante.js", _TEXT),
    # Its plugin uses our names.
    events={name: Event(name) for name in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd")},
    session_variable="OPENCODE_SESSION_ID",
    processes=("opencode",),
    shares_process=True,
    server=Server("opencode.json", "mcp", is_one_list=True),
    wake="opencode",
)

import { gateHooks } from '@gate-sidecar/client/claude-agent-sdk'
import { holdTo, type Subject } from '../promises.ts'
import { REQUEST } from '../world.ts'
import { toldTo } from './model.ts'
import { acme, runScripted } from './run.ts'

const subject: Subject = {
  name: 'Claude Agent SDK',
  prefix: 'mcp__acme__',
  async run({ session, turns, tools, approvalTimeout }) {
    const { provider } = await runScripted(turns, REQUEST, {
      mcpServers: { acme: acme(tools) },
      hooks: gateHooks(session, { approvalTimeout, skipPrompts: true }),
      // What runs although the policies do not allow it is for the SDK's own permissions.
      ...(!session.enforces && { allowedTools: ['mcp__acme__pay'] }),
    })
    return toldTo(provider)
      .sort((one, other) => one.id.localeCompare(other.id))
      .map(({ text }) => text)
  },
}

await holdTo([subject])

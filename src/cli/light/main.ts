import { startProgram } from '../start.ts'

/** The package @gate-sidecar/hook: the commands of a machine with agents and without a data file. */
export const finished = startProgram({
  hook: async () => (await import('../hook/hook.ts')).addHookCommands,
  mcp: async () => (await import('../mcp.ts')).addMcpCommand,
  health: async () => (await import('../health.ts')).addHealthCommand,
})

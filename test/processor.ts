/** Milliseconds that this process has worked so far: what something takes, however busy the machine is with others. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

export interface Signal {
  given: Promise<void>
  give: () => void
}

/** Holds up what waits for it until the test gives it, in place of a time that a busy machine does not keep. */
export function signal(): Signal {
  let give = (): void => undefined
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { given, give }
}

/** The two worlds of a tenant, which share no key, chain, approval or stop. */
export const ENVIRONMENTS = ['live', 'test'] as const

export type Environment = (typeof ENVIRONMENTS)[number]

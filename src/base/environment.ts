/** Environments of a tenant. They share no key, chain, approval or stop. */
export const ENVIRONMENTS = ['live', 'test'] as const

export type Environment = (typeof ENVIRONMENTS)[number]

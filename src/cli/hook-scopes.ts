/** Scopes of settings: everyone in the project, this user in the project, this user everywhere. */
export const SCOPES = ['project', 'local', 'user'] as const
export type Scope = (typeof SCOPES)[number]

/** Whose settings: of all who work in the project, of this user there, of this user everywhere. */
export const SCOPES = ['project', 'local', 'user'] as const
export type Scope = (typeof SCOPES)[number]

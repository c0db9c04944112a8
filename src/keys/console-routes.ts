/** Routes that people need to look and to manage, as the web console does. Part of ROUTES in roles.ts. */
export const CONSOLE_ROUTES = {} as const

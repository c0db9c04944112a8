/** Limits of the service, in characters. */
export const MAX_NAME = 256
export const MAX_TEXT = 2000

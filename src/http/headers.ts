/** A value with or without quotes around it, which do not count: the header's draft has them, most clients leave them out. */
export const IDEMPOTENCY_KEY_PATTERN = '^([!#-~]{1,255}|"[!#-~]{1,255}")$'

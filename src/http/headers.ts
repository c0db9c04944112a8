/** Value with or without quotes, which do not count: the header's draft has them, most clients omit them. */
export const IDEMPOTENCY_KEY_PATTERN = '^([!#-~]{1,255}|"[!#-~]{1,255}")$'

/** The API key that commands call with. A secret: no setting, so that no file and no list of settings ever shows it. */
export const KEY_VARIABLE = 'GATE_SIDECAR_KEY'
/** Where commands that ask a running sidecar find it, and for which tenant they ask. */
export const URL_VARIABLE = 'GATE_SIDECAR_URL'
/** Where it is when nothing else is said. */
export const USUAL_URL = 'http://127.0.0.1:4283'
export const TENANT_VARIABLE = 'GATE_SIDECAR_TENANT'

export const CALLER_VARIABLES: readonly string[] = [KEY_VARIABLE, URL_VARIABLE, TENANT_VARIABLE]

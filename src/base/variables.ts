/** API key that commands call with. It is a secret and no setting, so no file or list of settings ever shows it. */
export const KEY_VARIABLE = 'GATE_SIDECAR_KEY'
/** URL of the running sidecar that commands call. */
export const URL_VARIABLE = 'GATE_SIDECAR_URL'
/** Default URL of the sidecar. */
export const USUAL_URL = 'http://127.0.0.1:4283'
export const TENANT_VARIABLE = 'GATE_SIDECAR_TENANT'

export const CALLER_VARIABLES: readonly string[] = [KEY_VARIABLE, URL_VARIABLE, TENANT_VARIABLE]

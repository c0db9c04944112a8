import { type AnchorDelivery, type AnchorSink, anchorDelivery, unanchoredEntries } from '../actions/anchors/anchors.ts'
import { lineOf } from '../actions/anchors/compare.ts'
import { anchorGuard } from '../actions/anchors/guard.ts'
import type { AnchorState } from '../actions/audit/trail-state.ts'
import type { Deps } from '../actions/deps.ts'
import { anchorFile } from '../anchors/file.ts'
import { readWebhookSecret } from '../anchors/secret.ts'
import { anchorWebhook } from '../anchors/webhook.ts'
import { type Heads, headsOf } from '../evidence/anchor.ts'
import type { Store } from '../store/store.ts'
import { type Config, ConfigError } from './config.ts'
import type { Logger } from './log.ts'
import type { Background } from './repeat.ts'

const POLL_INTERVAL_MS = 1000
/** Lifetime of the cached status: counting queries each chain, and probes are frequent. */
const STATUS_AGE_MS = 1000

type AnchorStatus = Awaited<ReturnType<AnchorState['status']>>

export interface Anchors extends AnchorState {
  /** Newest head of each chain among the anchors that can be read back. @throws SinkFailure when reading fails */
  heads(): Promise<Heads>
}

export interface Anchoring extends Anchors {
  /** Delivers the outstanding anchors, for a short while. */
  close(): Promise<void>
}

/**
 * Checks the data file against its anchors, then anchors each new checkpoint.
 *
 * @throws ConfigError, UnusableSecret for settings that cannot be used
 */
export async function keepAnchors(deps: Deps, { config, log, tasks }: Background): Promise<Anchoring> {
  const { store } = deps
  const deliver = deliveryWith(deps, log)
  const record = config.anchorFile === null ? undefined : anchorFile(config.anchorFile)
  const guard = anchorGuard({
    store,
    record,
    onFault: (discrepancies) =>
      log.error(
        { discrepancies: discrepancies.map(lineOf) },
        'the audit trail contradicts its anchors: nothing is written',
      ),
    onResume: () => log.info({}, 'the audit trail agrees with its anchors again'),
    onMalformed: (lines) => log.warn({ lines }, 'skipped lines of the anchor file that hold no anchor'),
    onLost() {
      log.warn({}, 'the anchor file lacks anchors that it had taken: the newest of each chain are appended again')
      toFile?.deliverAgain()
    },
  })
  const toFile = record && deliver(record, guard.look)
  const webhook = webhookOf(deps, config)
  const toWebhook = webhook && deliver(webhook, async () => true)
  const deliveries = [toFile, toWebhook].filter((delivery) => delivery !== undefined)
  await toFile?.prepare()
  tasks.every('deliver anchors', POLL_INTERVAL_MS, async () => {
    if (guard.isSuspended()) await toFile?.prepare()
    if (!guard.isSuspended()) for (const delivery of deliveries) delivery.tend()
  })
  return {
    fault: guard.fault,
    status: statusOf(store, deliveries),
    heads: async () => (record === undefined ? new Map() : headsOf((await record.newest()).newest.values())),
    close: async () => void (await Promise.all(deliveries.map((delivery) => delivery.close()))),
  }
}

function deliveryWith(deps: Deps, log: Logger) {
  return (sink: AnchorSink, prepare: () => Promise<boolean>): AnchorDelivery =>
    anchorDelivery({
      ...deps,
      sink,
      prepare,
      onChange(failure, cause) {
        if (failure === null) log.info({ sink: sink.name }, 'anchors are taken again')
        else log.error({ sink: sink.name, failure, cause: String(cause) }, 'anchors are not taken')
      },
    })
}

function webhookOf({ clock }: Deps, { anchorUrl, anchorSecret }: Config): AnchorSink | undefined {
  if ((anchorUrl === null) !== (anchorSecret === null))
    throw new ConfigError('anchorUrl and anchorSecret go together: the secret signs what is sent there.')
  if (anchorUrl === null || anchorSecret === null) return undefined
  return anchorWebhook({ url: anchorUrl, secret: readWebhookSecret(anchorSecret), clock })
}

/** Caches the status for a second. */
function statusOf(store: Store, deliveries: readonly AnchorDelivery[]): () => Promise<AnchorStatus> {
  let untilMs = 0
  let status: Promise<AnchorStatus>
  const read = async (): Promise<AnchorStatus> => ({
    unanchoredEntries: deliveries.length === 0 ? null : await unanchoredEntries(store),
    sinks: await Promise.all(deliveries.map((delivery) => delivery.state())),
  })
  return () => {
    if (performance.now() >= untilMs) {
      status = read()
      untilMs = performance.now() + STATUS_AGE_MS
    }
    return status
  }
}

import { parentPort } from 'node:worker_threads'
import type { OpenedDraft } from '../../actions/replay/jobs.ts'
import type { Replayer } from '../../replay/replay.ts'
import { letOthersGoFirst } from '../../workers/thread.ts'
import { openDraftHere } from './here.ts'
import type { ToReplayer } from './thread.ts'

let draft: OpenedDraft | undefined
let replayer: Replayer | undefined

async function answerTo(message: ToReplayer): Promise<unknown> {
  if (message[0] === 'open') {
    draft = await openDraftHere(message[1], new AbortController().signal)
    const { digest, reachMs, diagnostics } = draft
    return { digest, reachMs, diagnostics }
  }
  if (message[0] === 'start') {
    replayer = await draft?.start(message[1])
    return undefined
  }
  return message[0] === 'add' ? replayer?.add(message[1]) : replayer?.report()
}

letOthersGoFirst()
parentPort?.on('message', async (message: ToReplayer) => parentPort?.postMessage(await answerTo(message)))

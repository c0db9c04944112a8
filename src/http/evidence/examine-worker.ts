import { parentPort } from 'node:worker_threads'
import { GateError } from '../../base/errors.ts'
import { letOthersGoFirst } from '../../workers/thread.ts'
import { type ExamineAnswer, type ExamineJob, examineBytes } from './examine.ts'

function answerTo({ body, inputs }: ExamineJob): ExamineAnswer {
  try {
    return { examined: examineBytes(body, inputs) }
  } catch (error) {
    if (!(error instanceof GateError)) throw error
    const { code, message, details } = error
    return { refused: { code, message, details } }
  }
}

letOthersGoFirst()
parentPort?.on('message', (job: ExamineJob) => parentPort?.postMessage(answerTo(job)))

import { workerData } from 'node:worker_threads'
import { letOthersGoFirst } from '../../workers/thread.ts'
import { copyHere } from './backup.ts'

letOthersGoFirst()
copyHere(workerData)

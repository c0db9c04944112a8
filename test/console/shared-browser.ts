import { after, afterEach } from 'node:test'
import { startBrowser } from '../browser.ts'

/** One browser for all files of a process: to start one takes as long as a test. */
export const browser = await startBrowser({ after })

// A page that stays open goes on to ask its service, and takes processor time from the tests after it.
afterEach(() => Promise.all(browser.contexts().map((context) => context.close())))

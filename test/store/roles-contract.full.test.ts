import { openServerStore } from '../../src/store/postgres/store.ts'
import { storeContract } from './contract.ts'
import { separated } from './roles.ts'

/** Separated once: that takes as long as a test. No other test uses it afterwards. */
const database = await separated({ after: () => undefined })

/* Every statement of the store passes in the role of those who redact and prune, which can do no more than that, and with rows separated. */
storeContract(
  async () => {
    await database.empty()
    return database.as('gate_custodian')
  },
  (url, clock) => openServerStore({ address: { url }, clock }),
)

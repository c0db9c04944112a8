import { openServerStore } from '../../src/store/postgres/store.ts'
import { storeContract } from './contract.ts'
import { governed } from './roles.ts'

/* Every statement of the store passes in the role of those who redact and prune, which can do no more than that. */
storeContract(
  async (t) => (await governed(t)).as('gate_custodian'),
  (url, clock) => openServerStore({ address: { url }, clock }),
)

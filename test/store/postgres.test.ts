import { openServerStore } from '../../src/store/postgres/store.ts'
import { postgresDatabase } from '../postgres.ts'
import { storeContract } from './contract.ts'

storeContract(postgresDatabase, (url, clock) => openServerStore({ address: { url }, clock }))

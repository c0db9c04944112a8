import type { Plan } from './plan.ts'

export type Tenant = {
  id: string
  revision: number
  plan: Plan
  createdAt: string
}

/** A tenant's id is also its policy folder's name. */
export const TENANT_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$'

export function isTenantId(text: string): boolean {
  return new RegExp(TENANT_PATTERN).test(text)
}

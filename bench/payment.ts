/**
 * The one question both servers are asked: may this agent move 1,200.50 EUR to a German account?
 * policies/bench/main.yaml and cerbos.ts hold rules of the same meaning, and both answer allow.
 */
export const payment = {
  amount: 1200.5,
  country: 'DE',
  currency: 'EUR',
  beneficiary: 'Muster Maschinenbau GmbH',
  iban: 'DE89370400440532013000',
  reference: 'Invoice 2026-0417, 14 days net, order 88-2031 of 3 April',
  invoice: { number: '2026-0417', lines: 3, dueDate: '2026-05-01' },
  conversation: 'c7b1d9d2-8d0c-4a53-9f0e-6a6b1a0d2f11',
}

export interface Question {
  path: string
  headers: Record<string, string>
  body: string
  /** Text that the right answer contains. */
  expected: string
}

export function gateQuestion(key: string, tenantId: string): Question {
  return {
    path: '/gate/check',
    headers: { 'x-api-key': key, 'x-tenant-id': tenantId },
    body: JSON.stringify({ tenantId, action: 'payment.transfer', context: payment }),
    expected: '"decision":"allow"',
  }
}

export function cerbosQuestion(): Question {
  return {
    path: '/api/check/resources',
    headers: {},
    body: JSON.stringify({
      principal: { id: 'bench-agent', roles: ['agent'] },
      resources: [{ actions: ['transfer'], resource: { kind: 'payment', id: '2026-0417', attr: payment } }],
    }),
    expected: '"EFFECT_ALLOW"',
  }
}

import type { ComponentType } from 'preact'
import type { SignedIn } from '../client/api.ts'
import { KillSwitchPage } from './pages/killswitch/page.tsx'
import type { IconName } from './ui/icons.tsx'

export interface Page {
  /** The first path segment of its address. */
  path: string
  title: string
  icon: IconName
  /** The operation that the page needs: without permission for it, the page is hidden. */
  needs: SignedIn['may'][number]
  load: () => Promise<ComponentType>
}

/** The pages in the order of the navigation: acting first, then looking. The first permitted one is the start page. */
export const PAGES: readonly Page[] = [
  {
    path: 'overview',
    title: 'Overview',
    icon: 'overview',
    needs: 'overview',
    load: async () => (await import('./pages/overview/page.tsx')).OverviewPage,
  },
  {
    path: 'approvals',
    title: 'Approvals',
    icon: 'approvals',
    needs: 'listApprovals',
    load: async () => (await import('./pages/approvals/page.tsx')).ApprovalsPage,
  },
  {
    path: 'kill-switch',
    title: 'Kill switch',
    icon: 'stop',
    needs: 'killSwitchStatus',
    // Part of the first script: the red button must need nothing from the network but the stop itself.
    load: async () => KillSwitchPage,
  },
  {
    path: 'decisions',
    title: 'Decisions',
    icon: 'decisions',
    needs: 'getDecision',
    load: async () => (await import('./pages/decisions/page.tsx')).DecisionsPage,
  },
  {
    path: 'audit',
    title: 'Audit',
    icon: 'audit',
    needs: 'auditChain',
    load: async () => (await import('./pages/audit/page.tsx')).AuditPage,
  },
  {
    path: 'policies',
    title: 'Policies',
    icon: 'policies',
    needs: 'listPolicies',
    load: async () => (await import('./pages/policies/page.tsx')).PoliciesPage,
  },
  {
    path: 'settings',
    title: 'Settings',
    icon: 'settings',
    needs: 'usage',
    load: async () => (await import('./pages/settings/page.tsx')).SettingsPage,
  },
]

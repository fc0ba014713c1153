import type { ComponentType } from 'react';
import type { IconName } from '../parts/icon.tsx';
import { createLazyCode } from '../parts/lazy-code.tsx';

export interface PageEntry {
  /** The page's path. The page is also shown at all paths below it. */
  path: string;
  name: string;
  icon: IconName;
  /** The part of the documentation that explains the page: its path under `/docs`. */
  docs: string;
  adminsOnly?: boolean;
  /** Only for people who are in a team. */
  teamsOnly?: boolean;
  Page: ComponentType;
  /** Loads the page's code before its first visit. Resolves even if loading fails; the visit then shows the failure. */
  preload: () => Promise<void>;
}

function createLazyPage<Module extends object>(
  load: () => Promise<Module>,
  findPage: (module: Module) => ComponentType,
): Pick<PageEntry, 'Page' | 'preload'> {
  const { Code, preload } = createLazyCode(load, findPage);
  return { Page: Code, preload };
}

/** The pages in the order of the menu. Each loads on its first visit. */
export const pages: readonly PageEntry[] = [
  {
    path: '/',
    name: 'Overview',
    icon: 'overview',
    docs: 'accounts#console',
    ...createLazyPage(
      () => import('../pages/overview/overview.tsx'),
      ({ Overview }) => Overview,
    ),
  },
  {
    path: '/workers',
    name: 'Workers',
    icon: 'workers',
    docs: 'operations#a-worker-on-another-machine',
    ...createLazyPage(
      () => import('../pages/workers/workers.tsx'),
      ({ Workers }) => Workers,
    ),
  },
  {
    path: '/models',
    name: 'Models',
    icon: 'models',
    docs: 'configuration#model-names-and-routing-rules',
    ...createLazyPage(
      () => import('../pages/models/models.tsx'),
      ({ Models }) => Models,
    ),
  },
  {
    path: '/playground',
    name: 'Playground',
    icon: 'playground',
    docs: 'accounts#conversations-of-the-playground',
    ...createLazyPage(
      () => import('../pages/playground/playground.tsx'),
      ({ Playground }) => Playground,
    ),
  },
  {
    path: '/tools',
    name: 'Tools',
    icon: 'tools',
    docs: 'tools',
    ...createLazyPage(
      () => import('../pages/tools/tools.tsx'),
      ({ Tools }) => Tools,
    ),
  },
  {
    path: '/connections',
    name: 'Connections',
    icon: 'connections',
    docs: 'tools#servers-that-each-person-connects-to',
    ...createLazyPage(
      () => import('../pages/connections/mcp-account-links.tsx'),
      ({ McpAccountLinks }) => McpAccountLinks,
    ),
  },
  {
    path: '/keys',
    name: 'API keys',
    icon: 'keys',
    docs: 'accounts#keys',
    ...createLazyPage(
      () => import('../pages/keys/keys.tsx'),
      ({ Keys }) => Keys,
    ),
  },
  {
    path: '/teams',
    name: 'Teams',
    icon: 'teams',
    docs: 'accounts#people-and-teams',
    teamsOnly: true,
    ...createLazyPage(
      () => import('../pages/teams/teams.tsx'),
      ({ Teams }) => Teams,
    ),
  },
  {
    path: '/batches',
    name: 'Batches',
    icon: 'batches',
    docs: 'api#batches',
    ...createLazyPage(
      () => import('../pages/batches/batches.tsx'),
      ({ Batches }) => Batches,
    ),
  },
  {
    path: '/files',
    name: 'Files',
    icon: 'files',
    docs: 'api#files',
    ...createLazyPage(
      () => import('../pages/files/files.tsx'),
      ({ Files }) => Files,
    ),
  },
  {
    path: '/webhooks',
    name: 'Webhooks',
    icon: 'webhooks',
    docs: 'webhooks',
    ...createLazyPage(
      () => import('../pages/webhooks/webhooks.tsx'),
      ({ Webhooks }) => Webhooks,
    ),
  },
  {
    path: '/sessions',
    name: 'Agent sessions',
    icon: 'sessions',
    docs: 'accounts#agent-sessions',
    ...createLazyPage(
      () => import('../pages/sessions/sessions.tsx'),
      ({ Sessions }) => Sessions,
    ),
  },
  {
    path: '/requests',
    name: 'Requests',
    icon: 'requests',
    docs: 'accounts#the-usage-ledger',
    ...createLazyPage(
      () => import('../pages/requests/requests.tsx'),
      ({ Requests }) => Requests,
    ),
  },
  {
    path: '/usage',
    name: 'Usage',
    icon: 'usage',
    docs: 'accounts#the-usage-ledger',
    ...createLazyPage(
      () => import('../pages/usage/usage.tsx'),
      ({ Usage }) => Usage,
    ),
  },
  {
    path: '/admin',
    name: 'Admin',
    icon: 'admin',
    docs: 'accounts#roles',
    adminsOnly: true,
    ...createLazyPage(
      () => import('../pages/admin/admin.tsx'),
      ({ Admin }) => Admin,
    ),
  },
];

export function isPageAt({ path }: PageEntry, address: string): boolean {
  return path === '/' ? address === '/' : address === path || address.startsWith(`${path}/`);
}

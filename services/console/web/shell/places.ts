import type { ComponentType } from 'react';
import type { IconName } from '../parts/icon.tsx';
import { lazyCode } from '../parts/lazy-code.tsx';

export interface PageEntry {
  /** The page's path. The page is also shown at all paths below it. */
  path: string;
  name: string;
  icon: IconName;
  adminsOnly?: boolean;
  /** Only for people who are in a team. */
  teamsOnly?: boolean;
  Page: ComponentType;
  /** Loads the page's code before its first visit. Resolves even if that fails; the visit then shows the failure. */
  preload: () => Promise<void>;
}

function page<Module extends object>(
  load: () => Promise<Module>,
  componentOf: (module: Module) => ComponentType,
): Pick<PageEntry, 'Page' | 'preload'> {
  const { Code, preload } = lazyCode(load, componentOf);
  return { Page: Code, preload };
}

/** The pages in the order of the menu. Each loads on its first visit. */
export const pages: readonly PageEntry[] = [
  {
    path: '/',
    name: 'Overview',
    icon: 'overview',
    ...page(
      () => import('../pages/overview/overview.tsx'),
      ({ Overview }) => Overview,
    ),
  },
  {
    path: '/workers',
    name: 'Workers',
    icon: 'workers',
    ...page(
      () => import('../pages/workers/workers.tsx'),
      ({ Workers }) => Workers,
    ),
  },
  {
    path: '/models',
    name: 'Models',
    icon: 'models',
    ...page(
      () => import('../pages/models/models.tsx'),
      ({ Models }) => Models,
    ),
  },
  {
    path: '/playground',
    name: 'Playground',
    icon: 'playground',
    ...page(
      () => import('../pages/playground/playground.tsx'),
      ({ Playground }) => Playground,
    ),
  },
  {
    path: '/tools',
    name: 'Tools',
    icon: 'tools',
    ...page(
      () => import('../pages/tools/tools.tsx'),
      ({ Tools }) => Tools,
    ),
  },
  {
    path: '/connections',
    name: 'Connections',
    icon: 'connections',
    ...page(
      () => import('../pages/connections/mcp-account-links.tsx'),
      ({ Connections }) => Connections,
    ),
  },
  {
    path: '/keys',
    name: 'API keys',
    icon: 'keys',
    ...page(
      () => import('../pages/keys/keys.tsx'),
      ({ Keys }) => Keys,
    ),
  },
  {
    path: '/teams',
    name: 'Teams',
    icon: 'teams',
    teamsOnly: true,
    ...page(
      () => import('../pages/teams/teams.tsx'),
      ({ Teams }) => Teams,
    ),
  },
  {
    path: '/batches',
    name: 'Batches',
    icon: 'batches',
    ...page(
      () => import('../pages/batches/batches.tsx'),
      ({ Batches }) => Batches,
    ),
  },
  {
    path: '/files',
    name: 'Files',
    icon: 'files',
    ...page(
      () => import('../pages/files/files.tsx'),
      ({ Files }) => Files,
    ),
  },
  {
    path: '/webhooks',
    name: 'Webhooks',
    icon: 'webhooks',
    ...page(
      () => import('../pages/webhooks/webhooks.tsx'),
      ({ Webhooks }) => Webhooks,
    ),
  },
  {
    path: '/sessions',
    name: 'Agent sessions',
    icon: 'sessions',
    ...page(
      () => import('../pages/sessions/sessions.tsx'),
      ({ Sessions }) => Sessions,
    ),
  },
  {
    path: '/requests',
    name: 'Requests',
    icon: 'requests',
    ...page(
      () => import('../pages/requests/requests.tsx'),
      ({ Requests }) => Requests,
    ),
  },
  {
    path: '/usage',
    name: 'Usage',
    icon: 'usage',
    ...page(
      () => import('../pages/usage/usage.tsx'),
      ({ Usage }) => Usage,
    ),
  },
  {
    path: '/admin',
    name: 'Admin',
    icon: 'admin',
    adminsOnly: true,
    ...page(
      () => import('../pages/admin/admin.tsx'),
      ({ Admin }) => Admin,
    ),
  },
];

export function isAt({ path }: PageEntry, address: string): boolean {
  return path === '/' ? address === '/' : address === path || address.startsWith(`${path}/`);
}

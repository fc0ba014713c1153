import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import type { IconName } from '../parts/icon.tsx';

/** A page of the console and its entry in the menu. */
export interface Place {
  /** The page's path; it also serves all paths below. */
  path: string;
  name: string;
  icon: IconName;
  adminsOnly?: boolean;
  /** Only for people who are in a team. */
  teamsOnly?: boolean;
  Page: LazyExoticComponent<ComponentType>;
  /** Loads the page's code before its first visit. Resolves also when that fails, which the visit then shows. */
  preload: () => Promise<void>;
}

function page(load: () => Promise<ComponentType>): Pick<Place, 'Page' | 'preload'> {
  let loading: Promise<{ default: ComponentType }> | undefined;
  const once = (): Promise<{ default: ComponentType }> => {
    loading ??= load().then((Page) => ({ default: Page }));
    return loading;
  };
  return {
    Page: lazy(once),
    preload: () =>
      once().then(
        () => undefined,
        () => undefined,
      ),
  };
}

/** The pages in the order of the menu. Each loads on its first visit. */
export const places: readonly Place[] = [
  {
    path: '/',
    name: 'Overview',
    icon: 'overview',
    ...page(() => import('../pages/overview/overview.tsx').then(({ Overview }) => Overview)),
  },
  {
    path: '/workers',
    name: 'Workers',
    icon: 'workers',
    ...page(() => import('../pages/workers/workers.tsx').then(({ Workers }) => Workers)),
  },
  {
    path: '/models',
    name: 'Models',
    icon: 'models',
    ...page(() => import('../pages/models/models.tsx').then(({ Models }) => Models)),
  },
  {
    path: '/playground',
    name: 'Playground',
    icon: 'playground',
    ...page(() => import('../pages/playground/playground.tsx').then(({ Playground }) => Playground)),
  },
  {
    path: '/tools',
    name: 'Tools',
    icon: 'tools',
    ...page(() => import('../pages/tools/tools.tsx').then(({ Tools }) => Tools)),
  },
  {
    path: '/connections',
    name: 'Connections',
    icon: 'connections',
    ...page(() => import('../pages/connections/connections.tsx').then(({ Connections }) => Connections)),
  },
  {
    path: '/keys',
    name: 'API keys',
    icon: 'keys',
    ...page(() => import('../pages/keys/keys.tsx').then(({ Keys }) => Keys)),
  },
  {
    path: '/teams',
    name: 'Teams',
    icon: 'teams',
    teamsOnly: true,
    ...page(() => import('../pages/teams/teams.tsx').then(({ Teams }) => Teams)),
  },
  {
    path: '/batches',
    name: 'Batches',
    icon: 'batches',
    ...page(() => import('../pages/batches/batches.tsx').then(({ Batches }) => Batches)),
  },
  {
    path: '/files',
    name: 'Files',
    icon: 'files',
    ...page(() => import('../pages/files/files.tsx').then(({ Files }) => Files)),
  },
  {
    path: '/webhooks',
    name: 'Webhooks',
    icon: 'webhooks',
    ...page(() => import('../pages/webhooks/webhooks.tsx').then(({ Webhooks }) => Webhooks)),
  },
  {
    path: '/usage',
    name: 'Usage',
    icon: 'usage',
    ...page(() => import('../pages/usage/usage.tsx').then(({ Usage }) => Usage)),
  },
  {
    path: '/admin',
    name: 'Admin',
    icon: 'admin',
    adminsOnly: true,
    ...page(() => import('../pages/admin/admin.tsx').then(({ Admin }) => Admin)),
  },
];

/** Whether an address belongs to a place. */
export function isAt({ path }: Place, address: string): boolean {
  return path === '/' ? address === '/' : address === path || address.startsWith(`${path}/`);
}

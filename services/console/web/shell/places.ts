import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import type { IconName } from '../parts/icon.tsx';

/** One page of the console and how it is reached. */
export interface Place {
  /** Its path, with those below it. */
  path: string;
  name: string;
  icon: IconName;
  adminsOnly?: boolean;
  Page: LazyExoticComponent<ComponentType>;
}

/** The pages, in the order of the menu. Each is loaded when it is first visited. */
export const places: readonly Place[] = [
  {
    path: '/',
    name: 'Overview',
    icon: 'overview',
    Page: lazy(() => import('../pages/overview/overview.tsx').then(({ Overview }) => ({ default: Overview }))),
  },
  {
    path: '/workers',
    name: 'Workers',
    icon: 'workers',
    Page: lazy(() => import('../pages/workers/workers.tsx').then(({ Workers }) => ({ default: Workers }))),
  },
  {
    path: '/models',
    name: 'Models',
    icon: 'models',
    Page: lazy(() => import('../pages/models/models.tsx').then(({ Models }) => ({ default: Models }))),
  },
  {
    path: '/playground',
    name: 'Playground',
    icon: 'playground',
    Page: lazy(() => import('../pages/playground/playground.tsx').then(({ Playground }) => ({ default: Playground }))),
  },
  {
    path: '/tools',
    name: 'Tools',
    icon: 'tools',
    Page: lazy(() => import('../pages/tools/tools.tsx').then(({ Tools }) => ({ default: Tools }))),
  },
  {
    path: '/keys',
    name: 'API keys',
    icon: 'keys',
    Page: lazy(() => import('../pages/keys/keys.tsx').then(({ Keys }) => ({ default: Keys }))),
  },
  {
    path: '/usage',
    name: 'Usage',
    icon: 'usage',
    Page: lazy(() => import('../pages/usage/usage.tsx').then(({ Usage }) => ({ default: Usage }))),
  },
  {
    path: '/admin',
    name: 'Admin',
    icon: 'admin',
    adminsOnly: true,
    Page: lazy(() => import('../pages/admin/admin.tsx').then(({ Admin }) => ({ default: Admin }))),
  },
];

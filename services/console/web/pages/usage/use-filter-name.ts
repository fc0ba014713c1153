import { tiers } from '#shared/core/tier.ts';
import type { UsageGroup } from '../../../contract/usage.ts';
import { useIsAdmin, useSession } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { tierNames } from '../../parts/tier-mark.tsx';

/** Returns the name of a filter's value. The URL of the page contains its id, which stays the same when the name changes. */
export function useFilterName(group: UsageGroup, id: string): string {
  const { user } = useSession();
  const isAdmin = useIsAdmin();
  const own = ownName();
  const path = own === undefined ? pathOf() : undefined;
  const found = useApi<{ name: string }>(path ?? '', { enabled: path !== undefined });
  if (own !== undefined) return own;
  if (path === undefined) return id;
  // Shows a placeholder for a moment, rather than an id.
  if (found.data) return found.data.name;
  return found.error ? (group === 'user' ? `deleted person ${id.slice(0, 4)}` : id) : '…';

  function ownName(): string | undefined {
    if (group === 'user' && id === user.id) return user.name;
    if (group === 'team') return user.teams.find((team) => team.id === id)?.name;
    if (group === 'tier') return tiers.filter((tier) => tier === id).map((tier) => tierNames[tier])[0];
    return undefined;
  }

  function pathOf(): string | undefined {
    if (group === 'key') return `/keys/${encodeURIComponent(id)}`;
    if (!isAdmin) return undefined;
    if (group === 'user') return `/users/${encodeURIComponent(id)}`;
    return group === 'team' ? `/teams/${encodeURIComponent(id)}` : undefined;
  }
}

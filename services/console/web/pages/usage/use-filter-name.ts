import { tiers } from '#shared/core/tier.ts';
import type { UsageGroup } from '../../../contract/usage.ts';
import { useIsAdmin, useSession } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { tierNames } from '../../parts/tier-mark.tsx';

/** Returns the display name of a filter's value. The URL of the page contains the id, because names can change. */
export function useFilterName(group: UsageGroup, id: string): string {
  const { user } = useSession();
  const isAdmin = useIsAdmin();
  const knownName = findKnownName();
  const path = knownName === undefined ? findPath() : undefined;
  const nameQuery = useApi<{ name: string }>(path ?? '', { enabled: path !== undefined });
  if (knownName !== undefined) return knownName;
  if (path === undefined) return id;
  // While the name loads, a placeholder is shown instead of the id.
  if (nameQuery.data) return nameQuery.data.name;
  return nameQuery.error ? (group === 'user' ? `deleted person ${id.slice(0, 4)}` : id) : '…';

  function findKnownName(): string | undefined {
    if (group === 'user' && id === user.id) return user.name;
    if (group === 'team') return user.teams.find((team) => team.id === id)?.name;
    if (group === 'tier') return tiers.filter((tier) => tier === id).map((tier) => tierNames[tier])[0];
    return undefined;
  }

  function findPath(): string | undefined {
    if (group === 'key') return `/keys/${encodeURIComponent(id)}`;
    if (!isAdmin) return undefined;
    if (group === 'user') return `/users/${encodeURIComponent(id)}`;
    return group === 'team' ? `/teams/${encodeURIComponent(id)}` : undefined;
  }
}

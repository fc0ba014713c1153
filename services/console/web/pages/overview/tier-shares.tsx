import { tiers, type Tier } from '#shared/core/tier.ts';
import { Group, Stack, Text } from '@mantine/core';
import { formatCount } from '../../parts/format.ts';
import { TierMark } from '../../parts/tier-mark.tsx';

type ByTier = Partial<Record<Tier, number>>;

export function TierShares({ served, queued }: { served: ByTier; queued: ByTier }) {
  const shownTiers = tiers.filter((tier) => (served[tier] ?? 0) + (queued[tier] ?? 0) > 0);
  const total = tiers.reduce((sum, tier) => sum + (served[tier] ?? 0), 0);
  return (
    <Stack gap="xs">
      <div className="share" aria-hidden="true">
        {shownTiers.map((tier) => (
          <span key={tier} className={`tier-${tier}`} style={{ flexGrow: served[tier] ?? 0 }} />
        ))}
      </div>
      {shownTiers.map((tier) => (
        <Group key={tier} justify="space-between" wrap="nowrap">
          <Text size="sm" component="span">
            <TierMark tier={tier} />
          </Text>
          <Text size="sm" className="numeric">
            {formatCount(served[tier] ?? 0)} served
            {total === 0 ? '' : ` (${Math.round(((served[tier] ?? 0) / total) * 100)} %)`}
            {queued[tier] ? `, ${formatCount(queued[tier])} waiting` : ''}
          </Text>
        </Group>
      ))}
    </Stack>
  );
}

import { Group, Text } from '@mantine/core';
import type { Tier } from '#shared/core/tier.ts';

export const tierNames: Record<Tier, string> = { gpu: 'GPU', cli: 'CLI', cloud: 'Cloud', tools: 'Tools' };

export function TierMark({ tier }: { tier: Tier }) {
  return (
    <Group component="span" gap={0} wrap="nowrap" display="inline-flex">
      <span className={`tier-dot tier-${tier}`} aria-hidden="true" />
      <Text span inherit>
        {tierNames[tier]}
      </Text>
    </Group>
  );
}

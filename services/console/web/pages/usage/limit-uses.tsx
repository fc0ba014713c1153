import { Group, Progress, Stack, Text, Title } from '@mantine/core';
import type { LimitUse } from '../../../contract/usage.ts';
import { useApi } from '../../api/use-api.ts';
import { Failure } from '../../parts/failure.tsx';
import { formatAgo, formatMoney, formatShort } from '../../parts/format.ts';

/** How much of each limit is used. Renders nothing without limits. */
export function LimitUses() {
  const uses = useApi<LimitUse[]>('/usage/now', { everyMs: 10_000 });
  if (uses.error && !uses.data) {
    return <Failure title="Could not load the limits" error={uses.error} onRetry={() => void uses.refetch()} />;
  }
  const limited = uses.data?.filter(({ limits }) => limits.length > 0) ?? [];
  if (limited.length === 0) return null;
  return (
    <section className="panel">
      <Title order={2} mb="xs">
        Limits
      </Title>
      <div className="halves">
        {limited.map(({ party, name, limits }) => (
          <Stack key={party} gap={6}>
            <Text size="sm" fw={600} className="break">
              {name}
            </Text>
            {limits.map(({ name, limit, used, resetsAt }) => (
              <div key={name}>
                <Group justify="space-between" gap="xs">
                  <Text size="xs">{wordsOf(name)}</Text>
                  <Text size="xs" c="dimmed" className="numeric">
                    {amount(name, used)} of {amount(name, limit)}
                    {resetsAt === undefined || used === 0 ? '' : `, resets ${formatAgo(resetsAt)}`}
                  </Text>
                </Group>
                <Progress
                  value={Math.min(100, (used / limit) * 100)}
                  color={used >= limit ? 'red' : used > limit * 0.8 ? 'orange' : 'ink'}
                  aria-label={`${wordsOf(name)} of ${party}`}
                />
              </div>
            ))}
          </Stack>
        ))}
      </div>
    </section>
  );
}

/** `tokensPerDay` as `tokens per day`. */
function wordsOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Usage of a per-minute limit drains evenly; a fraction of a request still blocks a whole one, so it is rounded up. */
function amount(name: string, value: number): string {
  return name.startsWith('cost') ? formatMoney(value) : formatShort(Math.ceil(value));
}

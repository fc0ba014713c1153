import { Button, Group, Progress, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { LimitUse } from '../../../contract/usage.ts';
import { useApi } from '../../api/use-api.ts';
import { Failure } from '../../parts/failure.tsx';
import { formatAgo, formatCount } from '../../parts/format.ts';
import { amountUsed, limitWords, tightestFirst } from './limit-words.ts';

/** Those that are shown at first: the ones that are used up the most. */
const shownFirst = 3;

/** The most that are shown at once, of those that match. */
const shownAtMost = 30;

/** How much of each limit is used. Renders nothing without limits. */
export function LimitUses() {
  const uses = useApi<LimitUse[]>('/usage/now', { everyMs: 10_000 });
  const [isOpen, setOpen] = useState(false);
  const [sought, seek] = useState('');
  // There may be thousands, and the search renders at each letter.
  const limited = useMemo(() => tightestFirst(uses.data ?? []), [uses.data]);
  if (uses.error && !uses.data) {
    return <Failure title="Could not load the limits" error={uses.error} onRetry={() => void uses.refetch()} />;
  }
  if (limited.length === 0) return null;
  const words = sought.trim().toLowerCase();
  const found = isOpen ? limited.filter(({ name }) => name.toLowerCase().includes(words)) : limited;
  const shown = found.slice(0, isOpen ? shownAtMost : shownFirst);
  return (
    <section className="panel" aria-label="Limits">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Limits</Title>
        {limited.length > shownFirst ? (
          <Button size="xs" variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Show the tightest only' : `Show all ${formatCount(limited.length)}`}
          </Button>
        ) : null}
      </Group>
      {isOpen ? (
        <TextInput
          label="Search limits"
          placeholder="Name of a key, person or team"
          maw="24rem"
          mb="sm"
          value={sought}
          onChange={({ currentTarget }) => seek(currentTarget.value)}
        />
      ) : null}
      <div className="limit-uses" {...(isOpen && { role: 'group', tabIndex: 0, 'aria-label': 'All limits' })}>
        {shown.map((use) => (
          <PartyLimits key={use.party} use={use} />
        ))}
      </div>
      {found.length === 0 ? <Text size="sm">Nothing with limits has such a name.</Text> : null}
      {isOpen && found.length > shown.length ? (
        <Text size="xs" c="dimmed" mt="xs">
          The {formatCount(shown.length)} tightest of {formatCount(found.length)}: search for the others.
        </Text>
      ) : null}
    </section>
  );
}

function PartyLimits({ use: { party, name: owner, limits } }: { use: LimitUse }) {
  return (
    <Stack gap={6}>
      <Text size="sm" fw={600} className="break">
        {owner}
      </Text>
      {limits.map(({ name, limit, used, resetsAt }) => (
        <div key={name}>
          <Group justify="space-between" gap="xs">
            <Text size="xs">{limitWords(name)}</Text>
            <Text size="xs" c="dimmed" className="numeric">
              {amountUsed(name, used, limit)}
              {resetsAt === undefined || used === 0 ? '' : `, resets ${formatAgo(resetsAt)}`}
            </Text>
          </Group>
          <Progress
            value={Math.min(100, (used / limit) * 100)}
            color={used >= limit ? 'red' : used > limit * 0.8 ? 'orange' : 'ink'}
            aria-label={`${limitWords(name)} of ${party}`}
          />
        </div>
      ))}
    </Stack>
  );
}

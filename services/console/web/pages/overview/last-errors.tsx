import { Code, Group, ScrollArea, Stack, Text } from '@mantine/core';
import type { Overview } from '../../../contract/live.ts';
import { formatClock } from '../../parts/format.ts';
import { tierNames } from '../../parts/tier-mark.tsx';

/** What failed last, with what is needed to find it in the logs. */
export function LastErrors({ errors }: { errors: Overview['errors'] }) {
  if (errors.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No request has failed lately.
      </Text>
    );
  }
  return (
    <ScrollArea.Autosize mah="22rem" viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': 'Last errors' }}>
      <Stack gap="sm">
        {errors.map(({ at, requestId, code, message, model, tier, worker }) => (
          <div key={requestId}>
            <Group gap="xs" wrap="wrap">
              <Text size="sm" fw={600}>
                {code}
              </Text>
              <Text size="xs" c="dimmed">
                {[formatClock(at), model, tier && tierNames[tier], worker]
                  .filter((part) => part !== undefined)
                  .join(' · ')}
              </Text>
            </Group>
            <Text size="sm" className="break">
              {message}
            </Text>
            <Code fz="xs" className="break">
              {requestId}
            </Code>
          </div>
        ))}
      </Stack>
    </ScrollArea.Autosize>
  );
}

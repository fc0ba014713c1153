import { Anchor, Group, ScrollArea, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Failure } from '../../../contract/live.ts';
import { useIsAdmin } from '../../api/session.ts';
import { toErrorSentence } from '../../parts/error-sentence.ts';
import { formatClock } from '../../parts/format.ts';
import { tierNames } from '../../parts/tier-mark.tsx';

/**
 * Lists the last failed requests with their ids, which also appear in the logs. Members receive only their own requests from the API.
 */
export function LastErrors({ failures }: { failures: readonly Failure[] }) {
  const isAdmin = useIsAdmin();
  if (failures.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {isAdmin ? 'No request has failed lately.' : 'None of your requests has failed lately.'}
      </Text>
    );
  }
  return (
    <ScrollArea.Autosize mah="22rem" viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': 'Last errors' }}>
      <Stack gap="sm">
        {failures.map(({ at, requestId, code, model, tier, worker }) => (
          <div key={`${requestId} ${at}`}>
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
              {toErrorSentence(code)}
            </Text>
            <Anchor
              component={Link}
              href={`/requests/${encodeURIComponent(requestId)}`}
              fz="xs"
              ff="monospace"
              className="break"
            >
              {requestId}
            </Anchor>
          </div>
        ))}
      </Stack>
    </ScrollArea.Autosize>
  );
}

import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import type { Delivery, Webhook } from '../../../contract/webhooks.ts';
import { callApi } from '../../api/call-api.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { DataList } from '../../parts/data-list.tsx';
import { Failure } from '../../parts/failure.tsx';
import { formatAgo, formatDuration } from '../../parts/format.ts';
import { Empty, Loaded } from '../../parts/loaded.tsx';

/** Milliseconds between two fetches of the deliveries. */
const lookEveryMs = 2_000;

const states: Record<Delivery['state'], { name: string; color: string }> = {
  pending: { name: 'Waiting', color: 'blue' },
  delivered: { name: 'Delivered', color: 'green' },
  dead: { name: 'Given up', color: 'red' },
};

export function Deliveries({ webhook: { id, enabled } }: { webhook: Webhook }) {
  const path = `/webhooks/${encodeURIComponent(id)}`;
  const deliveries = useApi<Delivery[]>(`${path}/deliveries`, { everyMs: lookEveryMs });
  const test = useChange(() => callApi<Delivery>('POST', `${path}/test`), [`${path}/deliveries`]);
  const repeat = useChange(
    (input: { deliveries?: string[] }) => callApi<{ repeated: number }>('POST', `${path}/repeat`, input),
    [`${path}/deliveries`],
  );
  const failure = test.error ?? repeat.error;
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Button disabled={!enabled} loading={test.isPending} onClick={() => test.mutate(undefined)}>
          Send a test event
        </Button>
        <Button
          variant="default"
          disabled={!enabled || !deliveries.data?.some(({ state }) => state === 'dead')}
          loading={repeat.isPending}
          onClick={() => repeat.mutate({})}
        >
          Repeat all that were given up
        </Button>
      </Group>
      {failure ? <Failure title="That did not work" error={failure} /> : null}
      <Loaded query={deliveries} contentName="the deliveries">
        {(list) =>
          list.length === 0 ? (
            <Empty title="Nothing was sent yet">
              What is sent to this address appears here for some days. Send a test event to see one.
            </Empty>
          ) : (
            <DataList
              label="Deliveries"
              rows={list}
              idOf={({ id: delivery }) => delivery}
              columns={[
                {
                  label: 'Event',
                  render: ({ event }) => <span className="break">{event.type}</span>,
                  sortBy: ({ event }) => event.type,
                  search: ({ id: delivery, event }) => `${event.type} ${event.id} ${delivery}`,
                },
                {
                  label: 'State',
                  render: (delivery) => <State of={delivery} />,
                  sortBy: ({ state }) => states[state].name,
                },
                { label: 'Last attempt', render: lastText, sortBy: lastText },
                {
                  label: 'Sent',
                  render: ({ createdAt }) => formatAgo(createdAt),
                  sortBy: ({ createdAt }) => createdAt,
                },
              ]}
              actions={({ id: delivery, state, event }) =>
                state === 'pending' ? null : (
                  <Button
                    size="xs"
                    variant="default"
                    disabled={!enabled}
                    aria-label={`Repeat ${event.type} ${delivery}`}
                    onClick={() => repeat.mutate({ deliveries: [delivery] })}
                  >
                    Repeat
                  </Button>
                )
              }
            />
          )
        }
      </Loaded>
    </Stack>
  );
}

function State({ of: { state, attempts, nextAt } }: { of: Delivery }) {
  const { name, color } = states[state];
  return (
    <div>
      <Badge variant="dot" color={color}>
        {name}
      </Badge>
      {state === 'pending' && attempts > 0 && nextAt !== undefined ? (
        <Text size="xs" c="dimmed">
          again {formatAgo(nextAt)}
        </Text>
      ) : null}
    </div>
  );
}

function lastText({ attempts, last }: Delivery): string {
  if (!last) return 'none yet';
  const outcome = last.error ?? `it answered ${last.status ?? ''}`;
  return attempts === 0 ? outcome : `${outcome}, after ${formatDuration(last.ms)} (attempt ${attempts})`;
}

import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import type { Delivery, Webhook } from '../../../contract/webhooks.ts';
import { callApi } from '../../api/call-api.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { DataList } from '../../parts/data-list.tsx';
import { Failure } from '../../parts/failure.tsx';
import { formatAgo, formatDuration } from '../../parts/format.ts';
import { Empty, Loaded } from '../../parts/loaded.tsx';

/** Milliseconds between two fetches of the deliveries. */
const fetchEveryMs = 2_000;

const stateLabels: Record<Delivery['state'], { name: string; color: string }> = {
  pending: { name: 'Waiting', color: 'blue' },
  delivered: { name: 'Delivered', color: 'green' },
  dead: { name: 'Given up', color: 'red' },
};

export function Deliveries({ webhook: { id, enabled } }: { webhook: Webhook }) {
  const path = `/webhooks/${encodeURIComponent(id)}`;
  const deliveries = useApi<Delivery[]>(`${path}/deliveries`, { everyMs: fetchEveryMs });
  const sendTest = useChange(() => callApi<Delivery>('POST', `${path}/test`), [`${path}/deliveries`]);
  const repeatDeliveries = useChange(
    (input: { deliveries?: string[] }) => callApi<{ repeated: number }>('POST', `${path}/repeat`, input),
    [`${path}/deliveries`],
  );
  const failure = sendTest.error ?? repeatDeliveries.error;
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Button disabled={!enabled} loading={sendTest.isPending} onClick={() => sendTest.mutate(undefined)}>
          Send a test event
        </Button>
        <Button
          variant="default"
          disabled={!enabled || !deliveries.data?.some(({ state }) => state === 'dead')}
          loading={repeatDeliveries.isPending}
          onClick={() => repeatDeliveries.mutate({})}
        >
          Repeat all given-up deliveries
        </Button>
      </Group>
      {failure ? <Failure title="That did not work" error={failure} /> : null}
      <Loaded query={deliveries} contentName="the deliveries">
        {(list) =>
          list.length === 0 ? (
            <Empty title="Nothing was sent yet">
              Deliveries to this address appear here for some days. Send a test event to see one.
            </Empty>
          ) : (
            <DataList
              label="Deliveries"
              rows={list}
              getId={({ id: deliveryId }) => deliveryId}
              columns={[
                {
                  label: 'Event',
                  render: ({ event }) => <span className="break">{event.type}</span>,
                  sortBy: ({ event }) => event.type,
                  search: ({ id: deliveryId, event }) => `${event.type} ${event.id} ${deliveryId}`,
                },
                {
                  label: 'State',
                  render: (delivery) => <DeliveryState delivery={delivery} />,
                  sortBy: ({ state }) => stateLabels[state].name,
                },
                { label: 'Last attempt', sortBy: describeLastAttempt },
                { label: 'Sent', sortBy: ({ createdAt }) => createdAt, format: formatAgo },
              ]}
              actions={({ id: deliveryId, state, event }) =>
                state === 'pending' ? null : (
                  <Button
                    size="xs"
                    variant="default"
                    disabled={!enabled}
                    aria-label={`Repeat ${event.type} ${deliveryId}`}
                    onClick={() => repeatDeliveries.mutate({ deliveries: [deliveryId] })}
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

function DeliveryState({ delivery: { state, attempts, nextAt } }: { delivery: Delivery }) {
  const { name, color } = stateLabels[state];
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

function describeLastAttempt({ attempts, last }: Delivery): string {
  if (!last) return 'none yet';
  const outcome = last.error ?? `answered with ${last.status ?? ''}`;
  return attempts === 0 ? outcome : `${outcome}, after ${formatDuration(last.ms)} (attempt ${attempts})`;
}

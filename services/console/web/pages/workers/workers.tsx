import { Badge, Button, Code, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import type { LiveWorkerFacts, WorkerState } from '../../../contract/live.ts';
import { callApi } from '../../api/call-api.ts';
import { useIsAdmin } from '../../api/session.ts';
import { useChange } from '../../api/use-api.ts';
import { useLive } from '../../api/live-store.ts';
import { DataList } from '../../parts/data-list.tsx';
import { Empty, Loading } from '../../parts/loaded.tsx';
import { Failure } from '../../parts/failure.tsx';
import { formatAgo } from '../../parts/format.ts';
import { Page } from '../../parts/page.tsx';
import { TierMark } from '../../parts/tier-mark.tsx';
import { Credentials } from './credentials.tsx';
import { Queue } from './queue.tsx';

/** The number of workers above which a filter is shown. */
const manyWorkers = 10;

const states: Record<WorkerState, { word: string; color: string; sentence: string }> = {
  serving: { word: 'Serving', color: 'green', sentence: 'gets requests' },
  full: { word: 'Full', color: 'yellow', sentence: 'all its slots are busy' },
  incompatible: {
    word: 'Incompatible',
    color: 'red',
    sentence: 'gets no requests: its release is too far from the router’s',
  },
  paused: { word: 'Paused', color: 'gray', sentence: 'gets no requests: its upstream limits the rate' },
  failing: { word: 'Failing', color: 'red', sentence: 'gets no requests, or one at a time: its upstream fails' },
  ejected: {
    word: 'Ejected',
    color: 'red',
    sentence: 'gets one request now and then: the others failed or were slow where those of its peers were not',
  },
  draining: { word: 'Draining', color: 'orange', sentence: 'finishes its requests and gets no new ones' },
};

/** Every connected worker and the queue, live. */
export function Workers() {
  const { workers, queue } = useLive();
  const isAdmin = useIsAdmin();
  const [sought, seek] = useState('');
  return (
    <Page title="Workers" about="All connected workers. Drain a worker before you stop its machine.">
      {workers && workers.length > manyWorkers ? (
        <TextInput
          label="Filter"
          placeholder="Name, model, tool, tier, pool or host"
          maw="24rem"
          value={sought}
          onChange={({ currentTarget }) => seek(currentTarget.value)}
        />
      ) : null}
      {workers ? (
        <WorkerList workers={workers.filter((worker) => matches(worker, sought))} sought={sought} />
      ) : (
        <Loading what="the workers" />
      )}
      <Stack gap="xs">
        <Title order={2}>Queue</Title>
        {queue ? <Queue lanes={queue} /> : <Loading what="the queue" />}
      </Stack>
      {isAdmin ? <Credentials /> : null}
    </Page>
  );
}

function WorkerList({ workers, sought }: { workers: readonly LiveWorkerFacts[]; sought: string }) {
  const isAdmin = useIsAdmin();
  const steer = useChange(
    ({ id, command }: { id: string; command: 'drain' | 'undrain' }) =>
      callApi<LiveWorkerFacts>('POST', `/workers/${encodeURIComponent(id)}/${command}`),
    [],
  );
  if (workers.length === 0) {
    return (
      <section className="panel">
        {sought === '' ? (
          <Empty title="No worker is connected">
            Start one on any machine that reaches NATS: <Code>npx rtr worker gpu</Code>. It appears here within a
            second. See <Code>docs/configuration.md</Code>, for a worker in another network{' '}
            <Code>docs/operations.md</Code>.
          </Empty>
        ) : (
          <Empty title="No worker matches">
            No worker has “{sought}” in its name, models, tools, tier, pool or host.
          </Empty>
        )}
      </section>
    );
  }
  return (
    <Stack gap="xs">
      {steer.error ? <Failure title={`The worker ${steer.variables.id} was not changed`} error={steer.error} /> : null}
      <DataList
        label="Workers"
        rows={workers}
        idOf={({ id }) => id}
        columns={[
          { label: 'Worker', render: (worker) => <Name worker={worker} /> },
          { label: 'Tier', render: ({ tier }) => <TierMark tier={tier} /> },
          { label: 'Serves', render: (worker) => <Serves worker={worker} /> },
          { label: 'Slots', render: ({ busy, slots }) => <SlotBar busy={busy} slots={slots} /> },
          { label: 'State', render: (worker) => <State worker={worker} /> },
          { label: 'Started', render: ({ startedAt }) => formatAgo(startedAt), wideOnly: true },
          { label: 'Version', render: ({ version }) => version, wideOnly: true },
        ]}
        {...(isAdmin
          ? {
              actions: ({ id, state }: LiveWorkerFacts) => {
                const command = state === 'draining' ? 'undrain' : 'drain';
                return (
                  <Button
                    size="xs"
                    variant="default"
                    loading={steer.isPending && steer.variables.id === id}
                    aria-label={`${command === 'drain' ? 'Drain' : 'Undrain'} ${id}`}
                    onClick={() => steer.mutate({ id, command })}
                  >
                    {command === 'drain' ? 'Drain' : 'Undrain'}
                  </Button>
                );
              },
            }
          : {})}
      />
    </Stack>
  );
}

function Name({ worker: { id, host, pool } }: { worker: LiveWorkerFacts }) {
  return (
    <div>
      <Text size="sm" fw={600} className="break">
        {id}
      </Text>
      <Text size="xs" c="dimmed" className="break">
        {host === undefined ? pool : `${host} · ${pool}`}
      </Text>
    </div>
  );
}

const shownNames = 3;

function Serves({ worker: { models, tools } }: { worker: LiveWorkerFacts }) {
  const names = models.length > 0 ? models : tools;
  if (names.length === 0) return <Text size="sm">nothing yet</Text>;
  const more = names.length - shownNames;
  return (
    <Text size="sm" className="break" title={names.join(', ')}>
      {names.slice(0, shownNames).join(', ')}
      {more > 0 ? ` and ${more} more` : ''}
    </Text>
  );
}

function State({ worker: { state, reason, missedHeartbeats } }: { worker: LiveWorkerFacts }) {
  const { word, color, sentence } = states[state];
  return (
    <Group gap={6} wrap="nowrap">
      <Badge color={color} variant="dot" title={sentence}>
        {word}
      </Badge>
      {reason === undefined ? null : (
        <Text size="xs" c="dimmed" className="break">
          {reason}
        </Text>
      )}
      {missedHeartbeats > 0 ? (
        <Text size="xs" c="var(--mantine-color-error)">
          silent for {missedHeartbeats} s
        </Text>
      ) : null}
    </Group>
  );
}

function matches({ id, tier, pool, host = '', models, tools }: LiveWorkerFacts, sought: string): boolean {
  const text = [id, tier, pool, host, ...models, ...tools].join('\n').toLowerCase();
  return text.includes(sought.trim().toLowerCase());
}

/** A worker's busy slots. */
function SlotBar({ busy, slots }: { busy: number; slots: number }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <span className="slots" aria-hidden="true">
        <span style={{ width: `${slots === 0 ? 0 : (busy / slots) * 100}%` }} />
      </span>
      <Text size="sm" className="numeric" style={{ whiteSpace: 'nowrap' }}>
        {busy} of {slots}
      </Text>
    </Group>
  );
}

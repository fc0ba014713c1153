import { Alert, Group, List, Loader, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { LiveWorkerFacts } from '../../../contract/live.ts';
import { useLive } from '../../api/live-store.ts';
import { CodeBlock } from '../../parts/copy.tsx';

/** Milliseconds after which hints are shown if no worker has joined. */
const longMs = 60_000;

export interface JoinWaitProps {
  /** The name of the credential, which is the first part of the worker's id. */
  owner: string;
  check: string;
}

/** Waits until a worker with a new credential joins, and shows what it serves. Shows after a minute what to check. */
export function JoinWait({ owner, check }: JoinWaitProps) {
  const { workers = [] } = useLive();
  // Workers of an earlier credential of this name may still be connected.
  const [before] = useState(() => new Map(workers.map(({ id, joinedAt }) => [id, joinedAt])));
  const [isLong, setLong] = useState(false);
  const joined = workers.filter(({ id, joinedAt }) => id.startsWith(`${owner}.`) && before.get(id) !== joinedAt);
  useEffect(() => {
    const timer = window.setTimeout(() => setLong(true), longMs);
    return () => window.clearTimeout(timer);
  }, []);
  return (
    <div role="status">
      {joined.length > 0 ? (
        <Stack gap="xs">
          {joined.map((worker) => (
            <Joined key={worker.id} worker={worker} />
          ))}
        </Stack>
      ) : (
        <Stack gap="xs">
          <Group gap="xs" wrap="nowrap">
            <Loader size="xs" aria-hidden="true" />
            <Text size="sm">Waiting for the worker. It appears here within a second of joining.</Text>
          </Group>
          {isLong ? <WhatToCheck check={check} /> : null}
        </Stack>
      )}
    </div>
  );
}

const textColor = { title: { color: 'var(--mantine-color-text)' } };

function Joined({ worker: { id, models, tools, state, reason } }: { worker: LiveWorkerFacts }) {
  const names = [...models, ...tools];
  const isWell = state !== 'failing' && state !== 'incompatible' && names.length > 0;
  return (
    <Alert
      title={`${id} has joined`}
      variant="outline"
      color={isWell ? 'green' : 'yellow'}
      styles={textColor}
      data-joined={id}
    >
      <Text size="sm" className="break">
        {names.length > 0 ? `It serves ${names.join(', ')}.` : 'It serves nothing yet.'}
        {isWell ? '' : ` ${whyUnwell(state, reason)}`}
      </Text>
    </Alert>
  );
}

function whyUnwell(state: LiveWorkerFacts['state'], reason: string | undefined): string {
  if (state === 'incompatible') return 'Its release is too far from the router’s: install the same one there.';
  return `Its log says why${reason === undefined ? '' : ` (${reason})`}: check what it was told to serve.`;
}

function WhatToCheck({ check }: { check: string }) {
  return (
    <Alert title="No worker has joined for a minute" variant="outline" color="yellow" styles={textColor}>
      <Text size="sm">Check on that machine:</Text>
      <List size="sm" my="xs">
        <List.Item>Does the command still run? What it prints last is the reason.</List.Item>
        <List.Item>
          Does it reach NATS? It opens one connection to the address above, and needs no open port of its own. The
          address that the ingress uses may not lead there from another network.
        </List.Item>
        <List.Item>Is its clock right? A credential is refused before it was made, and after it has expired.</List.Item>
        <List.Item>Is the file of the credential complete, from the first line to the last?</List.Item>
      </List>
      <Text size="sm" mb="xs">
        This answers the last three:
      </Text>
      <CodeBlock code={check} label="the check" wrap />
    </Alert>
  );
}

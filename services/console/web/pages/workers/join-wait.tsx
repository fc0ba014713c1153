import { Alert, Group, List, Loader, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { LiveWorkerFacts } from '../../../contract/live.ts';
import { useLive } from '../../api/live-store.ts';
import { CodeBlock } from '../../parts/copy.tsx';

/** Milliseconds after which hints are shown if no worker has joined. */
const hintAfterMs = 60_000;

export interface JoinWaitProps {
  /** The name of the credential, which is the first part of the worker's id. */
  credentialName: string;
  checkCommand: string;
}

/**
 * Waits until a worker with a new credential joins, and shows what the worker serves. If none has joined after a minute, shows what to
 * check.
 */
export function JoinWait({ credentialName, checkCommand }: JoinWaitProps) {
  const { workers = [] } = useLive();
  // Workers of an earlier credential of this name may still be connected.
  const [joinsBefore] = useState(() => new Map(workers.map(({ id, joinedAt }) => [id, joinedAt])));
  const [showsHints, setShowsHints] = useState(false);
  const joinedWorkers = workers.filter(
    ({ id, joinedAt }) => id.startsWith(`${credentialName}.`) && joinsBefore.get(id) !== joinedAt,
  );
  useEffect(() => {
    const timer = window.setTimeout(() => setShowsHints(true), hintAfterMs);
    return () => window.clearTimeout(timer);
  }, []);
  return (
    <div role="status">
      {joinedWorkers.length > 0 ? (
        <Stack gap="xs">
          {joinedWorkers.map((worker) => (
            <JoinedWorker key={worker.id} worker={worker} />
          ))}
        </Stack>
      ) : (
        <Stack gap="xs">
          <Group gap="xs" wrap="nowrap">
            <Loader size="xs" aria-hidden="true" />
            <Text size="sm">Waiting for the worker. It appears here within a second of joining.</Text>
          </Group>
          {showsHints ? <WhatToCheck checkCommand={checkCommand} /> : null}
        </Stack>
      )}
    </div>
  );
}

const textColor = { title: { color: 'var(--mantine-color-text)' } };

function JoinedWorker({ worker: { id, models, tools, state, reason } }: { worker: LiveWorkerFacts }) {
  const names = [...models, ...tools];
  const isServing = state !== 'failing' && state !== 'incompatible' && names.length > 0;
  return (
    <Alert
      title={`${id} has joined`}
      variant="outline"
      color={isServing ? 'green' : 'yellow'}
      styles={textColor}
      data-joined={id}
    >
      <Text size="sm" className="break">
        {names.length > 0 ? `It serves ${names.join(', ')}.` : 'It serves nothing yet.'}
        {isServing ? '' : ` ${explainProblem(state, reason)}`}
      </Text>
    </Alert>
  );
}

function explainProblem(state: LiveWorkerFacts['state'], reason: string | undefined): string {
  if (state === 'incompatible') return 'Its release is too far from the router’s: install the router’s release there.';
  return `The worker’s log says why${reason === undefined ? '' : ` (${reason})`}: check its settings.`;
}

function WhatToCheck({ checkCommand }: { checkCommand: string }) {
  return (
    <Alert title="No worker has joined for a minute" variant="outline" color="yellow" styles={textColor}>
      <Text size="sm">Check on that machine:</Text>
      <List size="sm" my="xs">
        <List.Item>Does the command still run? If not, its last output says why.</List.Item>
        <List.Item>
          Does the worker reach NATS? It opens one connection to the address above, and needs no open port of its own.
          The address that the ingress uses may not lead there from another network.
        </List.Item>
        <List.Item>
          Is the machine’s clock right? A credential is refused before it was made, and after it has expired.
        </List.Item>
        <List.Item>Is the file of the credential complete, from the first line to the last?</List.Item>
      </List>
      <Text size="sm" mb="xs">
        This command answers the last three questions:
      </Text>
      <CodeBlock code={checkCommand} label="the check" wrap />
    </Alert>
  );
}

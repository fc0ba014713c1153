import { Alert, Group, List, Loader, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { BoxInvitation } from '../../../contract/box-invitations.ts';
import type { LiveWorkerFacts } from '../../../contract/live.ts';
import { useLive } from '../../api/live-store.ts';
import { useApi } from '../../api/use-api.ts';

/** Milliseconds after which hints are shown if no worker has joined. */
const hintAfterMs = 60_000;

/** Milliseconds between two looks whether the invitation was used. */
const pollMs = 2_000;

/**
 * Waits until a machine uses an invitation and its workers join, and shows what they serve. If none has joined after a minute, shows what to
 * check.
 */
export function JoinWait({ invitationId }: { invitationId: string }) {
  const { workers = [] } = useLive();
  // Workers of an earlier credential of this name may still be connected.
  const [joinsBefore] = useState(() => new Map(workers.map(({ id, joinedAt }) => [id, joinedAt])));
  const [showsHints, setShowsHints] = useState(false);
  const box = useBoxName(invitationId);
  const joinedWorkers = workers.filter(
    ({ id, joinedAt }) => box !== undefined && id.startsWith(`${box}.`) && joinsBefore.get(id) !== joinedAt,
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
            <Text size="sm">
              {box === undefined
                ? 'Waiting for the machine. It appears here within seconds of joining.'
                : `${box} has joined. Waiting for its workers.`}
            </Text>
          </Group>
          {showsHints ? <WhatToCheck box={box} /> : null}
        </Stack>
      )}
    </div>
  );
}

/** Returns the name of the machine that has used an invitation; undefined until one has. */
function useBoxName(invitationId: string): string | undefined {
  const [name, setName] = useState<string>();
  // An expired invitation is no longer listed, so the name is kept.
  const invitations = useApi<BoxInvitation[]>('/box-invitations', { everyMs: pollMs, enabled: name === undefined });
  const box = invitations.data?.find(({ id }) => id === invitationId)?.box;
  if (box !== undefined && box !== name) setName(box);
  return name;
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

function WhatToCheck({ box }: { box: string | undefined }) {
  return (
    <Alert title="No worker has joined for a minute" variant="outline" color="yellow" styles={textColor}>
      <Text size="sm">Check on that machine:</Text>
      <List size="sm" mt="xs">
        <List.Item>Does the command still run? If not, its last output says why.</List.Item>
        {box === undefined ? (
          <List.Item>
            Does the machine reach the address in the line? The address at which you reach the router may not lead there
            from another network.
          </List.Item>
        ) : (
          <List.Item>
            Does an engine run there, or an agent that is signed in? The output of the command lists what it has found.
          </List.Item>
        )}
      </List>
    </Alert>
  );
}

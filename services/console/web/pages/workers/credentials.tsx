import { Alert, Badge, Button, Group, Stack, Text, Title } from '@mantine/core';
import { memo, useState, type ReactNode } from 'react';
import type { RevokedWorkerCredential, WorkerCredential } from '../../../contract/credentials.ts';
import type { RouterFacts } from '../../../contract/live.ts';
import { callApi } from '../../api/call-api.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { formatDay } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { TierMark, tierNames } from '../../parts/tier-mark.tsx';
import { AddWorker } from './add-worker.tsx';
import { folderCommand } from './folder-command.ts';
import { OpenInvitations } from './open-invitations.tsx';

/** Shows administrators how to add workers, with credentials that they create here or on the command line. */
export const Credentials = memo(function Credentials() {
  const routerFacts = useApi<RouterFacts>('/about');
  return (
    <section aria-labelledby="credentials">
      <Loaded query={routerFacts} contentName="the credentials">
        {({ managesCredentials, needsCredentials }) => {
          if (managesCredentials) return <CredentialList />;
          return needsCredentials ? <AddByCommand /> : <AddInFolder />;
        }}
      </Loaded>
    </section>
  );
});

function AddByCommand() {
  return (
    <AddInTerminal code="rtr credentials worker --tier gpu --name joes-box --out joes-box.creds --expires 90d">
      This router cannot invite machines: <code>CREDENTIALS_DIR</code> is not set. A worker joins with a credential,
      which is made where the folder of the cluster’s authority is:
    </AddInTerminal>
  );
}

/**
 * Shows how to add a worker to a router without credentials. The address of NATS, with its password, is in the folder of a router that
 * `rtr up` has started.
 */
function AddInFolder() {
  const elsewhere = (
    <Text size="sm" c="dimmed" mt="xs">
      On another machine, also set <code>NATS_URL</code> to the NATS of this router. A router that <code>rtr up</code>{' '}
      runs with its own NATS invites machines here with one line.
    </Text>
  );
  return (
    <AddInTerminal code={folderCommand} below={elsewhere}>
      This router signs in to NATS without a credential, and so do its workers. Run this on its machine; in a checkout,
      with <code>npx rtr</code> in its folder. The engine may be on another machine:
    </AddInTerminal>
  );
}

function AddInTerminal({ code, children, below }: { code: string; children: ReactNode; below?: ReactNode }) {
  return (
    <Stack gap="xs">
      <Title order={2} id="credentials">
        Add a worker
      </Title>
      <div className="panel">
        <Text size="sm" c="dimmed" mb="xs">
          {children}
        </Text>
        <CodeBlock code={code} label="the command" wrap />
        {below}
      </div>
    </Stack>
  );
}

/** Lists all worker credentials that were ever created. Valid credentials have a button that revokes them. */
function CredentialList() {
  const credentials = useApi<WorkerCredential[]>('/worker-credentials');
  const [isAdding, setAdding] = useState(false);
  const [credentialToRevoke, setCredentialToRevoke] = useState<WorkerCredential>();
  const [instruction, setInstruction] = useState<string>();
  const revoke = useChange(
    async ({ name }: WorkerCredential) => {
      const path = `/worker-credentials/${encodeURIComponent(name)}`;
      setInstruction((await callApi<RevokedWorkerCredential>('DELETE', path)).instruction);
    },
    ['/worker-credentials'],
  );
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={2} id="credentials">
          Credentials
        </Title>
        <Button variant="default" onClick={() => setAdding(true)}>
          Add a worker
        </Button>
      </Group>
      {instruction === undefined ? null : (
        <Alert
          title="One step is left"
          role="status"
          variant="outline"
          color="yellow"
          styles={{ title: { color: 'var(--mantine-color-text)' } }}
        >
          <Text size="sm" className="break">
            {instruction}
          </Text>
        </Alert>
      )}
      <Loaded query={credentials} contentName="the credentials">
        {(list) =>
          list.length === 0 ? (
            <Text size="sm" c="dimmed" className="panel">
              No machine has joined yet. Add a worker to invite one.
            </Text>
          ) : (
            <DataList
              label="Credentials"
              rows={list.toSorted((a, b) => b.issuedAt - a.issuedAt)}
              getId={({ name, tier, issuedAt }) => `${name}.${tier}.${issuedAt}`}
              columns={[
                { label: 'Name', sortBy: ({ name }) => name },
                {
                  label: 'Tier',
                  render: ({ tier }) => <TierMark tier={tier} />,
                  sortBy: ({ tier }) => tierNames[tier],
                },
                { label: 'Made', sortBy: ({ issuedAt }) => issuedAt, format: formatDay, wideOnly: true },
                {
                  label: 'Expires',
                  render: ({ expiresAt }) => (expiresAt === undefined ? 'never' : formatDay(expiresAt)),
                  sortBy: ({ expiresAt }) => expiresAt,
                },
                {
                  label: 'State',
                  render: (credential) => <CredentialState credential={credential} />,
                  sortBy: findState,
                },
              ]}
              address="credentials"
              actions={(credential) =>
                findState(credential) === 'Valid' ? (
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={`Revoke ${credential.name}`}
                    onClick={() => setCredentialToRevoke(credential)}
                  >
                    Revoke
                  </Button>
                ) : null
              }
            />
          )
        }
      </Loaded>
      <OpenInvitations />
      <AddWorker opened={isAdding} onClose={() => setAdding(false)} />
      <Confirm
        title={`Revoke ${credentialToRevoke?.name ?? ''}?`}
        action="Revoke"
        change={revoke}
        input={credentialToRevoke}
        onClose={() => setCredentialToRevoke(undefined)}
      >
        All workers that use this credential lose their connections, and cannot join with it again.
      </Confirm>
    </Stack>
  );
}

const stateColors = { Valid: 'green', Expired: 'gray', Revoked: 'red' } as const;

function CredentialState({ credential }: { credential: WorkerCredential }) {
  const state = findState(credential);
  return (
    <Badge color={stateColors[state]} variant="dot">
      {state}
    </Badge>
  );
}

function findState({ expiresAt = Infinity, revokedAt }: WorkerCredential): keyof typeof stateColors {
  if (revokedAt !== undefined) return 'Revoked';
  return expiresAt > Date.now() ? 'Valid' : 'Expired';
}

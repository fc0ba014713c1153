import { Button, Group, Title } from '@mantine/core';
import { useState } from 'react';
import type { AdminToken } from '../../../contract/tokens.ts';
import { callApi } from '../../api/call-api.ts';
import { useIsAdmin } from '../../api/session.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataList, type Column } from '../../parts/data-list.tsx';
import { formatAgo, formatDay } from '../../parts/format.ts';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';
import { NewToken } from './new-token.tsx';

const makerColumn: Column<AdminToken> = { label: 'Made by', sortBy: describeMaker };

function describeMaker({ owner, madeAt }: AdminToken): string {
  return owner?.name ?? `rtr, ${madeAt ?? 'unknown'}`;
}

export function Tokens() {
  const tokens = useApi<AdminToken[]>('/tokens');
  const isAdmin = useIsAdmin();
  const [isCreating, setCreating] = useState(false);
  const [tokenToRevoke, setTokenToRevoke] = useState<AdminToken>();
  const revoke = useChange(({ id }: AdminToken) => callApi('DELETE', `/tokens/${id}`), ['/tokens']);
  return (
    <section aria-labelledby="tokens">
      <Group justify="space-between" mb="xs">
        <Title order={2} id="tokens">
          Admin tokens
        </Title>
        <Button variant="default" onClick={() => setCreating(true)}>
          New token
        </Button>
      </Group>
      <Loaded query={tokens} contentName="the tokens">
        {(list) =>
          list.length === 0 ? (
            <EmptyPanel
              title="No admin tokens"
              action={<Button onClick={() => setCreating(true)}>Create a token</Button>}
            >
              With an admin token, programs and <code>rtr</code> manage the router within your rights. The{' '}
              <a href="/api/admin/v1/docs">Admin API</a> describes what they can do.
            </EmptyPanel>
          ) : (
            <DataList
              label="Admin tokens"
              rows={list}
              getId={({ id }) => id}
              columns={[
                { label: 'Name', sortBy: ({ name }) => name },
                { label: 'Scopes', sortBy: ({ scopes }) => scopes.join(', ') },
                ...(isAdmin ? [makerColumn] : []),
                { label: 'Expires', sortBy: ({ expiresAt }) => expiresAt, format: formatDay },
                {
                  label: 'Last used',
                  render: ({ lastUsedAt }) => (lastUsedAt === undefined ? 'never' : formatAgo(lastUsedAt)),
                  sortBy: ({ lastUsedAt }) => lastUsedAt,
                },
              ]}
              address="tokens"
              actions={(token) => (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`Revoke ${token.name}`}
                  onClick={() => setTokenToRevoke(token)}
                >
                  Revoke
                </Button>
              )}
            />
          )
        }
      </Loaded>
      <NewToken opened={isCreating} onClose={() => setCreating(false)} />
      <Confirm
        title={`Revoke ${tokenToRevoke?.name ?? ''}?`}
        action="Revoke"
        change={revoke}
        input={tokenToRevoke}
        onClose={() => setTokenToRevoke(undefined)}
      >
        The next request with this token is refused.
      </Confirm>
    </section>
  );
}

import { Badge, Button, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { ListedSignInSession } from '../../../contract/sessions.ts';
import { callApi } from '../../api/call-api.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { formatAgo } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';

/**
 * Lists a person's sign-in sessions. Each session except the current one has a button that ends the session.
 * @param path the path in the API that lists the sessions
 */
export function Sessions({ path = '/sessions' }: { path?: string }) {
  const sessions = useApi<ListedSignInSession[]>(path);
  const [sessionToEnd, setSessionToEnd] = useState<ListedSignInSession>();
  const endSession = useChange(({ id }: ListedSignInSession) => callApi('DELETE', `${path}/${id}`), [path]);
  return (
    <section aria-labelledby="sessions">
      <Title order={2} id="sessions" mb="xs">
        Sessions
      </Title>
      <Loaded query={sessions} contentName="the sessions">
        {(list) => (
          <DataList
            label="Sessions"
            rows={list}
            getId={({ id }) => id}
            columns={[
              {
                label: 'Browser',
                render: ({ browser, current }) => (
                  <>
                    {browser} {current ? <Badge variant="light">This one</Badge> : null}
                  </>
                ),
                sortBy: ({ browser }) => browser,
              },
              {
                label: 'From',
                render: ({ address = 'unknown' }) => <span className="break">{address}</span>,
                sortBy: ({ address }) => address,
              },
              { label: 'Signed in with', sortBy: ({ provider = 'password or link' }) => provider, wideOnly: true },
              { label: 'Signed in', sortBy: ({ startedAt }) => startedAt, format: formatAgo },
              { label: 'Last used', sortBy: ({ usedAt }) => usedAt, format: formatAgo },
            ]}
            address="sessions"
            actions={(session) =>
              session.current ? (
                <Text size="xs" c="dimmed">
                  –
                </Text>
              ) : (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`End the session of ${session.browser}`}
                  onClick={() => setSessionToEnd(session)}
                >
                  End
                </Button>
              )
            }
          />
        )}
      </Loaded>
      <Confirm
        title="End this session?"
        action="End session"
        change={endSession}
        input={sessionToEnd}
        onClose={() => setSessionToEnd(undefined)}
      >
        {sessionToEnd?.browser} at {sessionToEnd?.address ?? 'an unknown address'} is signed out at its next request.
      </Confirm>
    </section>
  );
}

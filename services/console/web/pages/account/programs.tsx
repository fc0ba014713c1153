import { Button, Title } from '@mantine/core';
import { useState } from 'react';
import type { SignedInProgram } from '../../../contract/sessions.ts';
import { callApi } from '../../api/call-api.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { formatAgo } from '../../parts/format.ts';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';

function describeAccount({ team }: SignedInProgram): string {
  return team ? `Team ${team.name}` : 'You';
}

export function Programs() {
  const programs = useApi<SignedInProgram[]>('/programs');
  const [programToSignOut, setProgramToSignOut] = useState<SignedInProgram>();
  const signOut = useChange(({ id }: SignedInProgram) => callApi('DELETE', `/programs/${id}`), ['/programs']);
  return (
    <section aria-labelledby="programs">
      <Title order={2} id="programs" mb="xs">
        Signed-in programs
      </Title>
      <Loaded query={programs} contentName="the programs">
        {(list) =>
          list.length === 0 ? (
            <EmptyPanel title="No signed-in programs">
              <code>
                npx {location.origin}/rtr.tgz login {location.origin}
              </code>{' '}
              signs a program in, so that your machine stores no key.
            </EmptyPanel>
          ) : (
            <DataList
              label="Signed-in programs"
              rows={list}
              getId={({ id }) => id}
              columns={[
                { label: 'Program', sortBy: ({ client }) => client },
                { label: 'Account', sortBy: describeAccount },
                { label: 'From', sortBy: ({ address }) => address, wideOnly: true },
                { label: 'Signed in', sortBy: ({ createdAt }) => createdAt, format: formatAgo },
                { label: 'Last token', sortBy: ({ usedAt }) => usedAt, format: formatAgo },
              ]}
              address="programs"
              actions={(program) => (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`Sign out ${program.client}`}
                  onClick={() => setProgramToSignOut(program)}
                >
                  Sign out
                </Button>
              )}
            />
          )
        }
      </Loaded>
      <Confirm
        title={`Sign out ${programToSignOut?.client ?? ''}?`}
        action="Sign out"
        change={signOut}
        input={programToSignOut}
        onClose={() => setProgramToSignOut(undefined)}
      >
        The next request of the program is refused. To use the program again, sign it in again.
      </Confirm>
    </section>
  );
}

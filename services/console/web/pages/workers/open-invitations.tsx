import { Button, Stack, Title } from '@mantine/core';
import { useState } from 'react';
import type { BoxInvitation } from '../../../contract/box-invitations.ts';
import { callApi } from '../../api/call-api.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { formatDateTime } from '../../parts/format.ts';
import { tierNames } from '../../parts/tier-mark.tsx';

/** Lists the invitations that no machine has used yet. Shows nothing if there are none. */
export function OpenInvitations() {
  const invitations = useApi<BoxInvitation[]>('/box-invitations');
  const [withdrawn, setWithdrawn] = useState<BoxInvitation>();
  const withdraw = useChange(
    ({ id }: BoxInvitation) => callApi('DELETE', `/box-invitations/${encodeURIComponent(id)}`),
    ['/box-invitations'],
  );
  const open = invitations.data?.filter(({ redeemedAt }) => redeemedAt === undefined) ?? [];
  return (
    <>
      {open.length === 0 ? null : (
        <Stack gap="xs">
          <Title order={3}>Invited machines</Title>
          <DataList
            label="Invited machines"
            rows={open}
            getId={({ id }) => id}
            columns={[
              { label: 'Name', render: nameOf, sortBy: nameOf },
              { label: 'May serve', render: ({ tiers }) => tiers.map((tier) => tierNames[tier]).join(', ') },
              { label: 'Until', sortBy: ({ expiresAt }) => expiresAt, format: formatDateTime },
            ]}
            address="invitations"
            actions={(invitation) => (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`Withdraw the invitation of ${nameOf(invitation)}`}
                onClick={() => setWithdrawn(invitation)}
              >
                Withdraw
              </Button>
            )}
          />
        </Stack>
      )}
      <Confirm
        title="Withdraw the invitation?"
        action="Withdraw"
        change={withdraw}
        input={withdrawn}
        onClose={() => setWithdrawn(undefined)}
      >
        No machine can join with its line any more.
      </Confirm>
    </>
  );
}

function nameOf({ name }: BoxInvitation): string {
  return name ?? 'any machine';
}

import { Anchor, Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMemo } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { Key } from '../../../contract/keys.ts';
import { useIsAdmin, useSession } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';
import { Icon } from '../../parts/icon.tsx';
import { MineSwitch } from '../../parts/mine-switch.tsx';
import { Page } from '../../parts/page.tsx';
import { RecordingNotice } from '../../parts/recording-notice.tsx';
import { KeyList } from './key-list.tsx';
import { NewKey } from './new-key.tsx';

/**
 * Shows personal and team keys: to administrators those of everybody, or their own if the URL has their id in `user`. Router keys are on the
 * administrators' page.
 */
export function Keys() {
  const keys = useApi<Key[]>('/keys');
  const ownedKeys = useMemo(() => keys.data?.filter(({ kind }) => kind !== 'router') ?? [], [keys.data]);
  const [search, setSearch] = useSearchParams();
  const isAdmin = useIsAdmin();
  const ownerId = (isAdmin && search.get('user')) || undefined;
  const shownKeys = useMemo(
    () => (ownerId === undefined ? ownedKeys : ownedKeys.filter(({ owner }) => owner?.id === ownerId)),
    [ownedKeys, ownerId],
  );
  const [isCreating, createDialog] = useDisclosure();
  const { user } = useSession();
  const mayCreate = user.makesPersonalKeys || user.teams.some(({ role }) => role === 'owner');
  return (
    <Page
      title="API keys"
      description="Clients authenticate with these keys. A key is shown once, when it is created."
      actions={
        mayCreate ? (
          <Button leftSection={<Icon name="plus" size={16} />} onClick={createDialog.open}>
            New key
          </Button>
        ) : null
      }
    >
      <RecordingNotice />
      <Loaded query={keys} contentName="the keys">
        {(allKeys) => (
          <>
            {ownedKeys.length > 0 ? (
              <MineSwitch user={ownerId} onUser={(id) => setSearch(id === undefined ? {} : { user: id })} />
            ) : null}
            {shownKeys.length === 0 ? (
              <EmptyPanel
                title="No keys yet"
                action={mayCreate ? <Button onClick={createDialog.open}>Create a key</Button> : null}
              >
                {mayCreate
                  ? 'A program authenticates with a key, which limits what it may use. Create a key, set the variable RTR_KEY to it, and use it with any OpenAI or Anthropic client.'
                  : 'Only administrators create keys here: ask one of them.'}
              </EmptyPanel>
            ) : (
              <KeyList keys={shownKeys} label="API keys" />
            )}
            {/* Only administrators see router keys. */}
            {ownedKeys.length < allKeys.length && (
              <Text size="sm" mt="sm">
                Keys that belong to nobody are under{' '}
                <Anchor component={Link} href="/admin/router-keys" inherit underline="always">
                  Admin, Router keys
                </Anchor>
                .
              </Text>
            )}
          </>
        )}
      </Loaded>
      <NewKey opened={isCreating} kinds={['user', 'team']} onClose={createDialog.close} />
    </Page>
  );
}

import { Button, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMemo } from 'react';
import type { Key } from '../../../contract/keys.ts';
import { useApi } from '../../api/use-api.ts';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';
import { Icon } from '../../parts/icon.tsx';
import { KeyList } from '../keys/key-list.tsx';
import { NewKey } from '../keys/new-key.tsx';

/** Lists the keys without an owner. */
export function RouterKeys() {
  const keys = useApi<Key[]>('/keys');
  const routerKeys = useMemo(() => keys.data?.filter(({ kind }) => kind === 'router') ?? [], [keys.data]);
  const [isCreating, createDialog] = useDisclosure();
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        Router keys have no owner and outlast every account. Use them for your own services.
      </Text>
      <Group>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={createDialog.open}>
          New router key
        </Button>
      </Group>
      <Loaded query={keys} contentName="the keys">
        {() =>
          routerKeys.length === 0 ? (
            <EmptyPanel
              title="No router keys"
              action={<Button onClick={createDialog.open}>Create a router key</Button>}
            >
              A service that belongs to no single person authenticates with a router key.
            </EmptyPanel>
          ) : (
            <KeyList keys={routerKeys} label="Router keys" />
          )
        }
      </Loaded>
      <NewKey opened={isCreating} kinds={['router']} onClose={createDialog.close} />
    </Stack>
  );
}

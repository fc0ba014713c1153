import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Webhook } from '../../../contract/webhooks.ts';
import { useApi } from '../../api/use-api.ts';
import { Icon } from '../../parts/icon.tsx';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { NewWebhook } from './new-webhook.tsx';
import { WebhookList } from './webhook-list.tsx';

export function Webhooks() {
  const webhooks = useApi<Webhook[]>('/webhooks');
  const [isCreating, createDialog] = useDisclosure();
  return (
    <Page
      title="Webhooks"
      description="The router sends events, such as the completion of a batch, to these addresses."
      actions={
        <Button leftSection={<Icon name="plus" size={16} />} onClick={createDialog.open}>
          New webhook
        </Button>
      }
    >
      <Loaded query={webhooks} contentName="the webhooks">
        {(list) =>
          list.length === 0 ? (
            <EmptyPanel title="No webhooks yet" action={<Button onClick={createDialog.open}>Create a webhook</Button>}>
              With a webhook, the router tells your program about an event, such as the completion of a batch. Your
              program need not ask for it.
            </EmptyPanel>
          ) : (
            <WebhookList webhooks={list} />
          )
        }
      </Loaded>
      <NewWebhook opened={isCreating} onClose={createDialog.close} />
    </Page>
  );
}

import { Badge, Menu, Modal, Stack } from '@mantine/core';
import { useState } from 'react';
import type { Webhook } from '../../../contract/webhooks.ts';
import { callApi } from '../../api/call-api.ts';
import { useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { Failure } from '../../parts/failure.tsx';
import { formatAgo } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Deliveries } from './deliveries.tsx';
import { RotateSecret } from './rotate-secret.tsx';
import { RowMenu, RowName } from '../../parts/table/row-parts.tsx';

export function WebhookList({ webhooks }: { webhooks: readonly Webhook[] }) {
  const [webhookToView, setWebhookToView] = useState<Webhook>();
  const [webhookToRotate, setWebhookToRotate] = useState<Webhook>();
  const [webhookToRemove, setWebhookToRemove] = useState<Webhook>();
  const removeWebhook = useChange(
    ({ id }: Webhook) => callApi('DELETE', `/webhooks/${encodeURIComponent(id)}`),
    ['/webhooks'],
  );
  const changeEnabled = useChange(
    ({ id, enabled }: Pick<Webhook, 'id' | 'enabled'>) =>
      callApi('PATCH', `/webhooks/${encodeURIComponent(id)}`, { enabled }),
    ['/webhooks'],
  );
  return (
    <Stack gap="xs">
      {changeEnabled.error ? <Failure title="The webhook was not changed" error={changeEnabled.error} /> : null}
      <DataList
        label="Webhooks"
        rows={webhooks.toSorted((a, b) => b.createdAt - a.createdAt)}
        getId={({ id }) => id}
        columns={[
          {
            label: 'Address',
            render: (webhook) => <WebhookAddress webhook={webhook} />,
            sortBy: ({ url }) => url,
            search: ({ url, description, enabled }) => [url, description, enabled ? '' : 'Disabled'].join(' '),
          },
          { label: 'Owner', sortBy: describeOwner },
          { label: 'Events', sortBy: ({ events }) => events.join(', ') },
          { label: 'Created', sortBy: ({ createdAt }) => createdAt, format: formatAgo, wideOnly: true },
        ]}
        address=""
        actions={(webhook) => (
          <RowMenu rowName={webhook.url}>
            <Menu.Item leftSection={<Icon name="send" size={16} />} onClick={() => setWebhookToView(webhook)}>
              Deliveries and test
            </Menu.Item>
            <Menu.Item leftSection={<Icon name="rotate" size={16} />} onClick={() => setWebhookToRotate(webhook)}>
              Rotate the secret
            </Menu.Item>
            <Menu.Item
              leftSection={<Icon name={webhook.enabled ? 'stop' : 'check'} size={16} />}
              onClick={() => changeEnabled.mutate({ id: webhook.id, enabled: !webhook.enabled })}
            >
              {webhook.enabled ? 'Disable' : 'Enable'}
            </Menu.Item>
            <Menu.Item
              leftSection={<Icon name="trash" size={16} />}
              color="var(--mantine-color-error)"
              onClick={() => setWebhookToRemove(webhook)}
            >
              Remove
            </Menu.Item>
          </RowMenu>
        )}
      />
      <Modal
        opened={webhookToView !== undefined}
        onClose={() => setWebhookToView(undefined)}
        title={`Deliveries to ${webhookToView?.url ?? ''}`}
        size="xl"
      >
        {webhookToView ? <Deliveries webhook={webhookToView} /> : null}
      </Modal>
      <RotateSecret rotatedWebhook={webhookToRotate} onClose={() => setWebhookToRotate(undefined)} />
      <Confirm
        title="Remove the webhook?"
        action="Remove webhook"
        change={removeWebhook}
        input={webhookToRemove}
        onClose={() => setWebhookToRemove(undefined)}
      >
        Nothing more is sent to {webhookToRemove?.url}. Events that wait or were given up are lost.
      </Confirm>
    </Stack>
  );
}

function WebhookAddress({ webhook: { url, description, enabled, disabledReason } }: { webhook: Webhook }) {
  return (
    <RowName
      name={url}
      details={
        (description ?? disabledReason) === undefined ? undefined : (
          <>
            <div>{description}</div>
            <div>{disabledReason}</div>
          </>
        )
      }
    >
      {enabled ? null : <Badge color="gray">Disabled</Badge>}
    </RowName>
  );
}

function describeOwner({ kind, owner }: Webhook): string {
  return owner ? `${owner.name}${kind === 'team' ? ' (team)' : ''}` : 'the router';
}

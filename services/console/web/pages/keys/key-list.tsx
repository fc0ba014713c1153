import { Badge, Menu, Stack, Switch, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import type { Key } from '../../../contract/keys.ts';
import type { RouterFacts } from '../../../contract/live.ts';
import { callApi } from '../../api/call-api.ts';
import { useSession } from '../../api/session.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataList, type Column } from '../../parts/data-list.tsx';
import { formatAgo, formatCount, formatDateTime } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { describeLimits } from '../../parts/limits-fields.tsx';
import { SwitchRecording } from '../../parts/switch-recording.tsx';
import { EditKey } from './edit-key.tsx';
import { findKeyRights } from './key-rights.ts';
import { RotateKey } from './rotate-key.tsx';
import { RowMenu, RowName } from '../../parts/table/row-parts.tsx';

const columns: readonly [Column<Key>, ...Column<Key>[]] = [
  {
    label: 'Key',
    render: (key) => <KeyName listedKey={key} now={Date.now()} />,
    sortBy: ({ name }) => name,
    search: ({ name, masked }) => `${name} ${masked}`,
  },
  { label: 'Owner', sortBy: ({ kind, owner }) => describeOwner(kind, owner) },
  { label: 'Class', sortBy: (key) => key.classInForce ?? key.class, wideOnly: true },
  { label: 'Allowed', render: (key) => <Allowed allowed={key} />, sortBy: describeAllowed },
  {
    label: 'Limits',
    render: ({ limits }) => <Text size="sm">{describeLimits(limits)}</Text>,
    sortBy: ({ limits }) => describeLimits(limits),
  },
  { label: 'Created', sortBy: ({ createdAt }) => createdAt, format: formatAgo, wideOnly: true },
  {
    label: 'Last used',
    render: ({ lastUsedAt }) => (lastUsedAt === undefined ? 'never' : formatAgo(lastUsedAt)),
    sortBy: ({ lastUsedAt }) => lastUsedAt,
  },
];

const minuteMs = 60_000;

export function KeyList({ keys, label }: { keys: readonly Key[]; label: string }) {
  const { user } = useSession();
  const [showsUnusable, setShowsUnusable] = useState(false);
  const [keyToEdit, setKeyToEdit] = useState<Key>();
  const [keyToRotate, setKeyToRotate] = useState<Key>();
  const [keyToRevoke, setKeyToRevoke] = useState<Key>();
  const [keyToSwitch, setKeyToSwitch] = useState<Key>();
  const { data: routerFacts } = useApi<RouterFacts>('/about');
  const [, go] = useLocation();
  const revokeKey = useChange(({ id }: Key) => callApi('DELETE', `/keys/${encodeURIComponent(id)}`), ['/keys']);
  // Rounded to minutes, so that the lists, which may have thousands of keys, are not computed again on every render.
  const now = Math.floor(Date.now() / minuteMs) * minuteMs;
  const newestFirst = useMemo(() => keys.toSorted((a, b) => b.createdAt - a.createdAt), [keys]);
  const usableKeys = useMemo(() => newestFirst.filter((key) => !isUnusable(key, now)), [newestFirst, now]);
  const unusableCount = keys.length - usableKeys.length;
  const shownKeys = showsUnusable ? newestFirst : usableKeys;
  return (
    <Stack gap="xs">
      {unusableCount > 0 ? (
        <Switch
          size="xs"
          label={`Show ${formatCount(unusableCount)} revoked or expired`}
          checked={showsUnusable}
          onChange={({ currentTarget }) => setShowsUnusable(currentTarget.checked)}
        />
      ) : null}
      {shownKeys.length === 0 ? (
        <Text size="sm" c="dimmed" className="panel">
          All keys are revoked or expired.
        </Text>
      ) : (
        <DataList
          label={label}
          rows={shownKeys}
          getId={({ id }) => id}
          columns={columns}
          address=""
          actions={(key) =>
            isUnusable(key, now) ? null : (
              <RowMenu rowName={key.name}>
                {findKeyRights(key, user).change ? (
                  <Menu.Item leftSection={<Icon name="edit" size={16} />} onClick={() => setKeyToEdit(key)}>
                    Change
                  </Menu.Item>
                ) : null}
                <Menu.Item
                  leftSection={<Icon name="usage" size={16} />}
                  onClick={() => go(`/usage?key=${encodeURIComponent(key.id)}`)}
                >
                  Usage
                </Menu.Item>
                {key.records && findKeyRights(key, user).change ? (
                  <Menu.Item leftSection={<Icon name="edit" size={16} />} onClick={() => setKeyToSwitch(key)}>
                    Stop recording
                  </Menu.Item>
                ) : null}
                {routerFacts?.records && !key.records && findKeyRights(key, user).record ? (
                  <Menu.Item leftSection={<Icon name="edit" size={16} />} onClick={() => setKeyToSwitch(key)}>
                    Record requests
                  </Menu.Item>
                ) : null}
                {findKeyRights(key, user).rotate ? (
                  <Menu.Item leftSection={<Icon name="rotate" size={16} />} onClick={() => setKeyToRotate(key)}>
                    Rotate
                  </Menu.Item>
                ) : null}
                {findKeyRights(key, user).change ? (
                  <Menu.Item
                    leftSection={<Icon name="trash" size={16} />}
                    color="var(--mantine-color-error)"
                    onClick={() => setKeyToRevoke(key)}
                  >
                    Revoke
                  </Menu.Item>
                ) : null}
              </RowMenu>
            )
          }
        />
      )}
      <EditKey editedKey={keyToEdit} onClose={() => setKeyToEdit(undefined)} />
      <SwitchRecording collection="keys" recordable={keyToSwitch} onClose={() => setKeyToSwitch(undefined)} />
      <RotateKey rotatedKey={keyToRotate} onClose={() => setKeyToRotate(undefined)} />
      <Confirm
        title={`Revoke ${keyToRevoke?.name ?? ''}?`}
        action="Revoke key"
        change={revokeKey}
        input={keyToRevoke}
        onClose={() => setKeyToRevoke(undefined)}
      >
        Requests with the key are refused within a second. Batches that it has created are cancelled; results that they
        have so far are kept. This cannot be undone. To replace the key without an interruption, rotate it instead.
      </Confirm>
    </Stack>
  );
}

function KeyName({
  listedKey: { name, masked, issued, recording, expiresAt, revokedAt },
  now,
}: {
  listedKey: Key;
  now: number;
}) {
  return (
    <RowName
      name={name}
      details={
        <Text span inherit ff="monospace">
          {masked}
        </Text>
      }
    >
      {revokedAt === undefined ? null : <Badge color="gray">Revoked</Badge>}
      {recording ? (
        <Badge variant="default" title={`Prompts and answers are recorded for the ${recording.of}`}>
          Recorded
        </Badge>
      ) : null}
      {issued ? (
        <Badge variant="default" title="The key has files of its own, which its owner's other keys do not reach">
          {issued.by === undefined ? 'Own files' : 'Issued'}
        </Badge>
      ) : null}
      {revokedAt === undefined && expiresAt !== undefined ? (
        <Badge variant="default" title={formatDateTime(expiresAt)}>
          {expiresAt < now ? 'Expired' : `Expires ${formatAgo(expiresAt, now)}`}
        </Badge>
      ) : null}
    </RowName>
  );
}

function Allowed({ allowed }: { allowed: Key }) {
  return (
    <Text size="sm" className="break">
      {describeAllowed(allowed)}
    </Text>
  );
}

function describeAllowed({ models, tiers, tools }: Key): string {
  return [
    models === undefined ? 'all models' : models.join(', '),
    ...(tiers === undefined ? [] : [`only ${tiers.join(', ')}`]),
    ...(tools === undefined ? [] : [`tools: ${tools.join(', ')}`]),
  ].join('; ');
}

function describeOwner(kind: Key['kind'], owner: Key['owner']): string {
  if (kind === 'router') return 'none (router key)';
  return owner ? `${owner.name}${kind === 'team' ? ' (team)' : ''}` : 'none';
}

function isUnusable({ revokedAt, expiresAt }: Key, now: number): boolean {
  return revokedAt !== undefined || (expiresAt !== undefined && expiresAt < now);
}

import { Badge, Button, Group, Menu, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { User } from '../../../contract/people.ts';
import { callApi } from '../../api/call-api.ts';
import { useSession } from '../../api/session.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataList, type Column } from '../../parts/data-list.tsx';
import { formatAgo } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { describeLimits } from '../../parts/limits-fields.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { LimitsModal, type PartyChange } from './limits-modal.tsx';
import { RowMenu, RowName } from '../../parts/table/row-parts.tsx';

interface UserChange {
  id: string;
  change: { role?: User['role']; blocked?: boolean };
}

interface Question {
  title: string;
  action: string;
  explanation: string;
  input:
    | UserChange
    | { id: string; email: string }
    | { id: string; signOut: true }
    | { id: string; resetsFactor: true }
    | { id: string; unlinks: true }
    | { id: string; deletes: true };
}

const roleNames = { admin: 'Administrator', member: 'Member' } as const;

const columns: readonly Column<User>[] = [
  { label: 'Role', sortBy: ({ role }) => roleNames[role] },
  {
    label: 'Limits',
    render: (user) => <Text size="sm">{describeLimits(user.limits)}</Text>,
    sortBy: ({ limits }) => describeLimits(limits),
  },
  {
    label: 'Last seen',
    render: ({ lastSeenAt: at }) => (at === undefined ? 'never' : formatAgo(at)),
    sortBy: ({ lastSeenAt }) => lastSeenAt,
  },
];

export function Users() {
  const { user: me } = useSession();
  const users = useApi<User[]>('/users');
  const [userToLimit, setUserToLimit] = useState<User>();
  const [question, setQuestion] = useState<Question>();
  const [, go] = useLocation();
  const applyChange = useChange(
    (input: Question['input']) => {
      const path = `/users/${encodeURIComponent(input.id)}`;
      if ('email' in input) return callApi('PATCH', `${path}/profile`, { email: input.email });
      if ('signOut' in input) return callApi('POST', `${path}/sign-out`);
      if ('deletes' in input) return callApi('DELETE', path);
      if ('resetsFactor' in input) return callApi('DELETE', `${path}/second-factor`);
      if ('unlinks' in input) return callApi('DELETE', `${path}/external-account`);
      return callApi('PATCH', path, input.change);
    },
    ['/users'],
  );
  const changeLimits = useChange(
    ({ id, ...change }: PartyChange) => callApi('PATCH', `/users/${encodeURIComponent(id)}`, change),
    ['/users'],
  );
  return (
    <Stack gap="xs">
      <Group>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => go('/admin/invitations')}>
          Invite someone
        </Button>
      </Group>
      <Loaded query={users} contentName="the people">
        {(list) => (
          <DataList
            label="People"
            rows={list}
            getId={({ id }) => id}
            columns={[
              {
                label: 'Person',
                render: (user) => <UserName user={user} isMe={user.id === me.id} />,
                sortBy: ({ name }) => name,
                search: buildSearchText,
              },
              ...columns,
            ]}
            address=""
            actions={(user) => (
              <RowMenu rowName={user.name}>
                <Menu.Item onClick={() => setUserToLimit(user)}>Limits</Menu.Item>
                <Menu.Item onClick={() => go(`/usage?user=${encodeURIComponent(user.id)}`)}>Usage</Menu.Item>
                {createQuestions(user, user.id === me.id).map((choice) => (
                  <Menu.Item key={choice.action} onClick={() => setQuestion(choice)}>
                    {choice.action}
                  </Menu.Item>
                ))}
              </RowMenu>
            )}
          />
        )}
      </Loaded>
      <LimitsModal party={userToLimit} change={changeLimits} onClose={() => setUserToLimit(undefined)} />
      <Confirm
        title={question?.title ?? ''}
        action={question?.action ?? ''}
        change={applyChange}
        input={question?.input}
        onClose={() => setQuestion(undefined)}
      >
        {question?.explanation}
      </Confirm>
    </Stack>
  );
}

function buildSearchText({ name, email, emailConfirmed, blocked, refusedByProvider }: User): string {
  const states = [blocked && 'Blocked', refusedByProvider && refusedLabel];
  return [name, email, ...states, !emailConfirmed && 'Address not confirmed'].filter(Boolean).join(' ');
}

const refusedLabel = 'Refused by the provider';

function UserName({
  user: { name, email, emailConfirmed, blocked, refusedByProvider },
  isMe,
}: {
  user: User;
  isMe: boolean;
}) {
  return (
    <RowName name={name} details={email}>
      {isMe ? <Badge variant="default">You</Badge> : null}
      {blocked ? <Badge color="red.8">Blocked</Badge> : null}
      {refusedByProvider ? <Badge color="red.8">{refusedLabel}</Badge> : null}
      {emailConfirmed ? null : <Badge color="yellow.9">Address not confirmed</Badge>}
    </RowName>
  );
}

function createQuestions(
  { id, name, email, emailConfirmed, role, blocked, provider }: User,
  isMe: boolean,
): Question[] {
  const confirmAddress: Question = {
    title: `Is ${email} the address of ${name}?`,
    action: 'Confirm the address',
    explanation:
      'They have typed in the address themselves. Once it is confirmed, everything that is given to this address is theirs. Make sure who they are.',
    input: { id, email },
  };
  const unlinkProvider: Question = {
    title: `Unlink ${name} from ${provider}?`,
    action: 'Unlink from the provider',
    explanation:
      'They are signed out everywhere. Whoever signs in next with their address, at any of the providers, has this account. Do this when they have another account at the provider, or there is another provider.',
    input: { id, unlinks: true },
  };
  return [
    // People cannot confirm their own address.
    ...(emailConfirmed || isMe ? [] : [confirmAddress]),
    role === 'admin'
      ? {
          title: `Make ${name} a member?`,
          action: 'Make a member',
          explanation: 'They keep their keys and teams, and can no longer administer the router.',
          input: { id, change: { role: 'member' } },
        }
      : {
          title: `Make ${name} an administrator?`,
          action: 'Make an administrator',
          explanation: 'They can then change everything: people, teams, keys, limits and prices.',
          input: { id, change: { role: 'admin' } },
        },
    {
      title: `Sign ${name} out?`,
      action: 'Sign out everywhere',
      explanation:
        'All their sessions and admin tokens end, and their programs are signed out. Their keys keep working.',
      input: { id, signOut: true },
    },
    {
      title: `Remove the second factor of ${name}?`,
      action: 'Remove the second factor',
      explanation:
        'Their next sign-in asks for the password only. Do this if they have lost the second factor, and you know that it is them.',
      input: { id, resetsFactor: true },
    },
    ...(provider === undefined ? [] : [unlinkProvider]),
    blocked
      ? {
          title: `Unblock ${name}?`,
          action: 'Unblock',
          explanation: 'They can sign in again, and their keys work again.',
          input: { id, change: { blocked: false } },
        }
      : {
          title: `Block ${name}?`,
          action: 'Block',
          explanation:
            'They are signed out, and their personal keys are refused within a second, until you unblock them.',
          input: { id, change: { blocked: true } },
        },
    {
      title: `Delete ${name}?`,
      action: 'Delete',
      explanation:
        'Their keys are revoked, their batches cancelled, and their files, responses and webhooks removed. Their past usage stays, without their name. This cannot be undone.',
      input: { id, deletes: true },
    },
  ];
}

import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import type { Team, TeamRole, User } from '../../contract/people.ts';
import { callApi } from '../api/call-api.ts';
import { useApi, useChange } from '../api/use-api.ts';
import { useIsAdmin } from '../api/session.ts';
import { DataList } from './data-list.tsx';
import { Failure } from './failure.tsx';

const roleOptions: { value: TeamRole; label: string }[] = [
  { value: 'owner', label: 'Owner: creates keys, adds people' },
  { value: 'member', label: 'Member' },
];

/** The members of a team and their roles. Administrators choose from all people; owners enter the address of a person to add. */
export function Members({ team, onClose }: { team: Team | undefined; onClose: () => void }) {
  return (
    <Modal opened={team !== undefined} onClose={onClose} title={`Members of ${team?.name ?? ''}`} size="lg">
      {team ? <MemberList key={team.id} team={team} /> : null}
    </Modal>
  );
}

function MemberList({ team: { id, members } }: { team: Team }) {
  const buildPath = (user: string): string => `/teams/${encodeURIComponent(id)}/members/${encodeURIComponent(user)}`;
  const change = useChange(
    ({ user, role }: { user: string; role: TeamRole | 'none' }) =>
      role === 'none' ? callApi('DELETE', buildPath(user)) : callApi('PUT', buildPath(user), { role }),
    ['/teams', '/session'],
  );
  const isAdmin = useIsAdmin();
  return (
    <Stack gap="sm">
      {change.error ? <Failure title="The team was not changed" error={change.error} /> : null}
      {members.length === 0 ? (
        <Text size="sm" c="dimmed">
          This team has no members yet. Add someone below.
        </Text>
      ) : (
        <DataList
          label="Members"
          rows={members}
          getId={(member) => member.id}
          columns={[
            {
              label: 'Person',
              render: (member) => <MemberName member={member} />,
              sortBy: ({ name }) => name,
              search: buildSearchText,
            },
            {
              label: 'Role',
              render: (member) => (
                <Select
                  aria-label={`Role of ${member.name}`}
                  data={roleOptions}
                  value={member.role}
                  allowDeselect={false}
                  onChange={(role) => change.mutate({ user: member.id, role: role === 'owner' ? 'owner' : 'member' })}
                />
              ),
              sortBy: ({ role }) => role,
            },
          ]}
          actions={(member) => (
            <Button
              size="xs"
              variant="default"
              aria-label={`Remove ${member.name}`}
              onClick={() => change.mutate({ user: member.id, role: 'none' })}
            >
              Remove
            </Button>
          )}
        />
      )}
      {isAdmin ? (
        <AddPerson
          members={members}
          isPending={change.isPending}
          onAdd={(user) => change.mutate({ user, role: 'member' })}
        />
      ) : (
        <AddByAddress team={id} />
      )}
    </Stack>
  );
}

function MemberName({ member: { name, email } }: { member: Team['members'][number] }) {
  return (
    <div>
      <Text size="sm" className="break">
        {name}
      </Text>
      <Text size="xs" c="dimmed" className="break">
        {email}
      </Text>
    </div>
  );
}

function buildSearchText({ name, email }: Team['members'][number]): string {
  return `${name} ${email}`;
}

function AddPerson({
  members,
  isPending,
  onAdd,
}: {
  members: Team['members'];
  isPending: boolean;
  onAdd: (user: string) => void;
}) {
  const users = useApi<User[]>('/users');
  const [chosenId, setChosenId] = useState<string | null>(null);
  const nonMembers = users.data?.filter((user) => members.every((member) => member.id !== user.id)) ?? [];
  // A person who has become a member meanwhile is not added again.
  const idToAdd = nonMembers.some(({ id }) => id === chosenId) ? chosenId : null;
  return (
    <Group align="flex-end">
      <Select
        label="Add someone"
        placeholder={nonMembers.length === 0 ? 'Everyone is a member' : 'Choose'}
        searchable
        disabled={nonMembers.length === 0}
        style={{ flexGrow: 1 }}
        data={nonMembers.map(({ id, name, email }) => ({ value: id, label: `${name} (${email})` }))}
        value={idToAdd}
        onChange={setChosenId}
      />
      <Button disabled={idToAdd === null} loading={isPending} onClick={() => idToAdd !== null && onAdd(idToAdd)}>
        Add
      </Button>
    </Group>
  );
}

function AddByAddress({ team: teamId }: { team: string }) {
  const [email, setEmail] = useState('');
  const add = useChange(
    (address: string) =>
      callApi('POST', `/teams/${encodeURIComponent(teamId)}/members`, { email: address, role: 'member' }),
    ['/teams', '/session'],
  );
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    add.mutate(email, { onSuccess: () => setEmail('') });
  };
  return (
    <form onSubmit={onSubmit}>
      <Group align="flex-end">
        <TextInput
          label="Add someone by e-mail address"
          type="email"
          required
          style={{ flexGrow: 1 }}
          value={email}
          error={add.error?.message}
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        />
        <Button type="submit" loading={add.isPending}>
          Add
        </Button>
      </Group>
    </form>
  );
}

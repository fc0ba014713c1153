import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import type { Invitation, Team, UserRole } from '../../../contract/people.ts';
import { callApi, type ApiFailure } from '../../api/call-api.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';
import { formatAgo } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { SecretModal } from '../../parts/secret-modal.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';

const roleNames = { admin: 'Administrator', member: 'Member' } as const;

export function Invitations() {
  const invitations = useApi<Invitation[]>('/invitations');
  const teams = useApi<Team[]>('/teams');
  const findTeamName = (id: string): string => teams.data?.find((team) => team.id === id)?.name ?? id;
  const [isInviting, inviteDialog] = useDisclosure();
  const [invitationToWithdraw, setInvitationToWithdraw] = useState<Invitation>();
  const invite: InviteMutation = useChange(
    (input: NewInvitation) => callApi<{ invitation: Invitation; link: string }>('POST', '/invitations', input),
    ['/invitations'],
  );
  const close = (): void => {
    invite.reset();
    inviteDialog.close();
  };
  const withdraw = useChange(
    ({ id }: Invitation) => callApi('DELETE', `/invitations/${encodeURIComponent(id)}`),
    ['/invitations'],
  );
  return (
    <Stack gap="xs">
      <Group>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={inviteDialog.open}>
          Invite someone
        </Button>
      </Group>
      <Loaded query={invitations} contentName="the invitations">
        {(list) =>
          list.length === 0 ? (
            <EmptyPanel title="No open invitations">
              An invitation is a link with which one person creates their account. Invite someone, and send them the
              link.
            </EmptyPanel>
          ) : (
            <DataList
              label="Invitations"
              rows={list}
              getId={({ id }) => id}
              columns={[
                { label: 'E-mail', sortBy: ({ email }) => email },
                { label: 'Role', sortBy: ({ role }) => roleNames[role] },
                {
                  label: 'Team',
                  render: ({ teamId }) => (teamId === undefined ? 'none' : findTeamName(teamId)),
                  sortBy: ({ teamId }) => (teamId === undefined ? undefined : findTeamName(teamId)),
                },
                { label: 'Expires', sortBy: ({ expiresAt }) => expiresAt, format: formatAgo },
              ]}
              address=""
              actions={(invitation) => (
                <Button
                  size="xs"
                  variant="default"
                  aria-label={`Withdraw the invitation of ${invitation.email}`}
                  onClick={() => setInvitationToWithdraw(invitation)}
                >
                  Withdraw
                </Button>
              )}
            />
          )
        }
      </Loaded>
      <SecretModal
        opened={isInviting}
        onClose={close}
        title="Invite someone"
        showsSecret={isInviting && invite.data !== undefined}
      >
        {isInviting ? <InviteForm invite={invite} onDone={close} /> : null}
      </SecretModal>
      <Confirm
        title="Withdraw the invitation?"
        action="Withdraw invitation"
        change={withdraw}
        input={invitationToWithdraw}
        onClose={() => setInvitationToWithdraw(undefined)}
      >
        The link for {invitationToWithdraw?.email} stops working.
      </Confirm>
    </Stack>
  );
}

interface NewInvitation {
  email: string;
  role: UserRole;
  teamId?: string;
}

type InviteMutation = UseMutationResult<{ invitation: Invitation; link: string }, ApiFailure, NewInvitation>;

function InviteForm({ invite, onDone }: { invite: InviteMutation; onDone: () => void }) {
  const teams = useApi<Team[]>('/teams');
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<UserRole>('member');
  const [teamId, setTeamId] = useState<string | null>(null);
  if (invite.data) {
    return (
      <Stack gap="sm">
        <Text size="sm">Send this link to {invite.data.invitation.email}. It works once and is shown only now.</Text>
        <CodeBlock wrap code={new URL(invite.data.link, window.location.origin).href} label="the link" />
        <Group justify="flex-end">
          <Button onClick={onDone}>I have copied it</Button>
        </Group>
      </Stack>
    );
  }
  const { error } = invite;
  return (
    <DialogForm
      change={invite}
      failure="The invitation was not created"
      inputs={['email']}
      action="Create link"
      onSubmit={() => invite.mutate({ email, role, ...(teamId === null ? {} : { teamId }) })}
      onCancel={onDone}
    >
      <TextInput
        label="E-mail"
        type="email"
        required
        data-autofocus
        value={email}
        error={error?.findProblem('email')}
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
      />
      <Select
        label="Role"
        data={[
          { value: 'member', label: 'Member' },
          { value: 'admin', label: 'Administrator: can change everything' },
        ]}
        value={role}
        allowDeselect={false}
        onChange={(chosen) => setRole(chosen === 'admin' ? 'admin' : 'member')}
      />
      {teams.data && teams.data.length > 0 ? (
        <Select
          label="Team"
          placeholder="none"
          clearable
          clearButtonProps={{ 'aria-label': 'No team' }}
          data={teams.data.map(({ id, name }) => ({ value: id, label: name }))}
          value={teamId}
          onChange={setTeamId}
        />
      ) : null}
    </DialogForm>
  );
}

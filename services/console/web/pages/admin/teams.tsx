import { Button, Group, Menu, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Team } from '../../../contract/people.ts';
import type { RouterFacts } from '../../../contract/live.ts';
import { callApi } from '../../api/call-api.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';
import { Icon } from '../../parts/icon.tsx';
import { describeLimits } from '../../parts/limits-fields.tsx';
import { LimitsModal, type PartyChange } from './limits-modal.tsx';
import { Members } from '../../parts/members.tsx';
import { SwitchRecording } from '../../parts/switch-recording.tsx';
import { TeamNameForm } from '../../parts/team-name-form.tsx';
import { RowMenu, RowName } from '../../parts/table/row-parts.tsx';

export function Teams() {
  const teams = useApi<Team[]>('/teams');
  const [isCreating, createDialog] = useDisclosure();
  const [teamToRename, setTeamToRename] = useState<Team>();
  const [teamToLimit, setTeamToLimit] = useState<Team>();
  const [openTeamId, setOpenTeamId] = useState<string>();
  const [teamToDelete, setTeamToDelete] = useState<Team>();
  const [teamToSwitch, setTeamToSwitch] = useState<Team>();
  const { data: routerFacts } = useApi<RouterFacts>('/about');
  const [, go] = useLocation();
  const deleteTeam = useChange(
    ({ id }: Team) => callApi('DELETE', `/teams/${encodeURIComponent(id)}`),
    ['/teams', '/keys', '/users'],
  );
  const changeLimits = useChange(
    ({ id, ...change }: PartyChange) => callApi('PATCH', `/teams/${encodeURIComponent(id)}`, change),
    ['/teams'],
  );
  return (
    <Stack gap="xs">
      <Group>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={createDialog.open}>
          New team
        </Button>
      </Group>
      <Loaded query={teams} contentName="the teams">
        {(list) =>
          list.length === 0 ? (
            <EmptyPanel title="No teams yet" action={<Button onClick={createDialog.open}>Create a team</Button>}>
              A team shares keys, limits and a bill, and its owners add people to it.
            </EmptyPanel>
          ) : (
            <>
              <DataList
                label="Teams"
                rows={list}
                getId={({ id }) => id}
                columns={[
                  {
                    label: 'Team',
                    render: ({ name }) => <RowName name={name} />,
                    sortBy: ({ name }) => name,
                  },
                  {
                    label: 'Members',
                    render: ({ members }) => describeMembers(members),
                    sortBy: ({ members }) => members.length,
                    search: ({ members }) => members.map(({ name, email }) => `${name} ${email}`).join(' '),
                  },
                  {
                    label: 'Limits',
                    render: (team) => <Text size="sm">{describeLimits(team.limits)}</Text>,
                    sortBy: ({ limits }) => describeLimits(limits),
                  },
                ]}
                address=""
                actions={(team) => (
                  <RowMenu rowName={team.name}>
                    <Menu.Item onClick={() => setOpenTeamId(team.id)}>Members</Menu.Item>
                    <Menu.Item onClick={() => setTeamToLimit(team)}>Limits</Menu.Item>
                    <Menu.Item onClick={() => go(`/usage?team=${encodeURIComponent(team.id)}`)}>Usage</Menu.Item>
                    <Menu.Item onClick={() => setTeamToRename(team)}>Rename</Menu.Item>
                    {team.records || routerFacts?.records ? (
                      <Menu.Item onClick={() => setTeamToSwitch(team)}>
                        {team.records ? 'Stop recording' : 'Record requests'}
                      </Menu.Item>
                    ) : null}
                    <Menu.Item color="var(--mantine-color-error)" onClick={() => setTeamToDelete(team)}>
                      Delete
                    </Menu.Item>
                  </RowMenu>
                )}
              />
              <Members team={list.find(({ id }) => id === openTeamId)} onClose={() => setOpenTeamId(undefined)} />
            </>
          )
        }
      </Loaded>
      <Modal opened={isCreating} onClose={createDialog.close} title="New team">
        {isCreating ? <TeamNameForm onDone={createDialog.close} /> : null}
      </Modal>
      <Modal
        opened={teamToRename !== undefined}
        onClose={() => setTeamToRename(undefined)}
        title={`Rename ${teamToRename?.name ?? ''}`}
      >
        {teamToRename ? <TeamNameForm team={teamToRename} onDone={() => setTeamToRename(undefined)} /> : null}
      </Modal>
      <SwitchRecording collection="teams" recordable={teamToSwitch} onClose={() => setTeamToSwitch(undefined)} />
      <LimitsModal party={teamToLimit} change={changeLimits} onClose={() => setTeamToLimit(undefined)} />
      <Confirm
        title={`Delete ${teamToDelete?.name ?? ''}?`}
        action="Delete team"
        change={deleteTeam}
        input={teamToDelete}
        onClose={() => setTeamToDelete(undefined)}
      >
        The team's keys are revoked within a second. Its members keep their accounts and personal keys. This cannot be
        undone.
      </Confirm>
    </Stack>
  );
}

function describeMembers(members: Team['members']): string {
  if (members.length === 0) return 'none';
  const firstNames = members.slice(0, 3).map(({ name }) => name);
  return members.length > firstNames.length
    ? `${firstNames.join(', ')} and ${members.length - firstNames.length} more`
    : firstNames.join(', ');
}

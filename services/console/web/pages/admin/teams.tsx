import { ActionIcon, Button, Group, Menu, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Team } from '../../../contract/account.ts';
import type { RouterFacts } from '../../../contract/live.ts';
import { callApi } from '../../api/call-api.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { Empty, Loaded } from '../../parts/loaded.tsx';
import { Icon } from '../../parts/icon.tsx';
import { describeLimits } from '../../parts/limits-fields.tsx';
import { LimitsModal, type PartyChange } from './limits-modal.tsx';
import { Members } from '../../parts/members.tsx';
import { SwitchRecording } from '../../parts/switch-recording.tsx';
import { TeamName } from '../../parts/team-name.tsx';

export function Teams() {
  const teams = useApi<Team[]>('/teams');
  const [isNew, asNew] = useDisclosure();
  const [renamed, rename] = useState<Team>();
  const [limited, limit] = useState<Team>();
  const [open, show] = useState<string>();
  const [deleted, remove] = useState<Team>();
  const [switched, setSwitched] = useState<Team>();
  const { data: routerFacts } = useApi<RouterFacts>('/about');
  const [, go] = useLocation();
  const removal = useChange(
    ({ id }: Team) => callApi('DELETE', `/teams/${encodeURIComponent(id)}`),
    ['/teams', '/keys', '/users'],
  );
  const limits = useChange(
    ({ id, ...change }: PartyChange) => callApi('PATCH', `/teams/${encodeURIComponent(id)}`, change),
    ['/teams'],
  );
  return (
    <Stack gap="xs">
      <Group>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={asNew.open}>
          New team
        </Button>
      </Group>
      <Loaded query={teams} contentName="the teams">
        {(list) =>
          list.length === 0 ? (
            <section className="panel">
              <Empty title="No teams yet" action={<Button onClick={asNew.open}>Create a team</Button>}>
                A team shares keys, limits and a bill, and its owners add people to it.
              </Empty>
            </section>
          ) : (
            <>
              <DataList
                label="Teams"
                rows={list}
                idOf={({ id }) => id}
                columns={[
                  {
                    label: 'Team',
                    render: ({ name }) => (
                      <Text size="sm" fw={600} className="break">
                        {name}
                      </Text>
                    ),
                    sortBy: ({ name }) => name,
                  },
                  {
                    label: 'Members',
                    render: ({ members }) => membersText(members),
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
                  <Menu position="bottom-end" withinPortal>
                    <Menu.Target>
                      <ActionIcon variant="default" aria-label={`Actions for ${team.name}`}>
                        <Icon name="more" />
                      </ActionIcon>
                    </Menu.Target>
                    <Menu.Dropdown>
                      <Menu.Item onClick={() => show(team.id)}>Members</Menu.Item>
                      <Menu.Item onClick={() => limit(team)}>Limits</Menu.Item>
                      <Menu.Item onClick={() => go(`/usage?team=${encodeURIComponent(team.id)}`)}>Usage</Menu.Item>
                      <Menu.Item onClick={() => rename(team)}>Rename</Menu.Item>
                      {team.records || routerFacts?.records ? (
                        <Menu.Item onClick={() => setSwitched(team)}>
                          {team.records ? 'Stop recording' : 'Record requests'}
                        </Menu.Item>
                      ) : null}
                      <Menu.Item color="var(--mantine-color-error)" onClick={() => remove(team)}>
                        Delete
                      </Menu.Item>
                    </Menu.Dropdown>
                  </Menu>
                )}
              />
              <Members team={list.find(({ id }) => id === open)} onClose={() => show(undefined)} />
            </>
          )
        }
      </Loaded>
      <Modal opened={isNew} onClose={asNew.close} title="New team">
        {isNew ? <TeamName onDone={asNew.close} /> : null}
      </Modal>
      <Modal opened={renamed !== undefined} onClose={() => rename(undefined)} title={`Rename ${renamed?.name ?? ''}`}>
        {renamed ? <TeamName team={renamed} onDone={() => rename(undefined)} /> : null}
      </Modal>
      <SwitchRecording of="teams" switched={switched} onClose={() => setSwitched(undefined)} />
      <LimitsModal party={limited} change={limits} onClose={() => limit(undefined)} />
      <Confirm
        title={`Delete ${deleted?.name ?? ''}?`}
        action="Delete team"
        change={removal}
        input={deleted}
        onClose={() => remove(undefined)}
      >
        Its keys are revoked within a second. This cannot be undone. Its members keep their accounts and personal keys.
      </Confirm>
    </Stack>
  );
}

function membersText(members: Team['members']): string {
  if (members.length === 0) return 'none';
  const shown = members.slice(0, 3).map(({ name }) => name);
  return members.length > shown.length
    ? `${shown.join(', ')} and ${members.length - shown.length} more`
    : shown.join(', ');
}

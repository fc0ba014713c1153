import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Team } from '../../../contract/people.ts';
import type { RouterFacts } from '../../../contract/live.ts';
import { useSession } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { describeCeiling } from '../../parts/ceiling-fields.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { describeLimits } from '../../parts/limits-fields.tsx';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Members } from '../../parts/members.tsx';
import { RecordingNotice } from '../../parts/recording-notice.tsx';
import { SwitchRecording } from '../../parts/switch-recording.tsx';

const roleNames = { owner: 'Owner', member: 'Member' } as const;

/** Shows the person's teams. Owners of a team can change its members. Only administrators can change names, limits and ceilings. */
export function Teams() {
  const { user } = useSession();
  const teams = useApi<Team[]>('/teams');
  return (
    <Page title="Teams" description="People who share keys, limits and a bill.">
      <RecordingNotice />
      <Loaded query={teams} contentName="your teams">
        {(visibleTeams) => {
          // Administrators get all teams from the API. The Admin page shows the teams that they are not in.
          const joinedTeams = visibleTeams.filter(({ id }) => user.teams.some((team) => team.id === id));
          return joinedTeams.length === 0 ? (
            <EmptyPanel title="You are in no team">An administrator makes teams and adds people to them.</EmptyPanel>
          ) : (
            <Stack gap="md">
              {joinedTeams.map((team) => (
                <TeamPanel
                  key={team.id}
                  team={team}
                  isOwner={user.teams.some(({ id, role }) => id === team.id && role === 'owner')}
                />
              ))}
            </Stack>
          );
        }}
      </Loaded>
    </Page>
  );
}

function TeamPanel({ team, isOwner }: { team: Team; isOwner: boolean }) {
  const { id, name, limits, ceiling, members } = team;
  const [isDialogOpen, membersDialog] = useDisclosure();
  const [teamToSwitch, setTeamToSwitch] = useState<Team>();
  const { data: routerFacts } = useApi<RouterFacts>('/about');
  return (
    <section className="panel" aria-labelledby={`team-${id}`}>
      <Group justify="space-between" mb="xs">
        <Title order={2} id={`team-${id}`} className="break">
          {name}
        </Title>
        {isOwner ? (
          <Group gap="xs">
            {team.records || routerFacts?.records ? (
              <Button size="xs" variant="default" onClick={() => setTeamToSwitch(team)}>
                {team.records ? 'Stop recording' : 'Record requests'}
              </Button>
            ) : null}
            <Button size="xs" variant="default" aria-label={`Change members of ${name}`} onClick={membersDialog.open}>
              Change members
            </Button>
          </Group>
        ) : null}
      </Group>
      <Text size="sm" mb="xs">
        Limits: {describeLimits(limits)}. Allowed: {describeCeiling(ceiling)}.{' '}
        <Anchor component={Link} href={`/usage?team=${encodeURIComponent(id)}`} inherit underline="always">
          Usage
        </Anchor>
        ,{' '}
        <Anchor component={Link} href="/keys" inherit underline="always">
          API keys
        </Anchor>
      </Text>
      <DataList
        label={`Members of ${name}`}
        rows={members}
        getId={(member) => member.id}
        address={id}
        columns={[
          { label: 'Person', sortBy: (member) => member.name },
          { label: 'E-mail', sortBy: ({ email }) => email },
          { label: 'Role', sortBy: ({ role }) => roleNames[role] },
        ]}
      />
      <SwitchRecording collection="teams" recordable={teamToSwitch} onClose={() => setTeamToSwitch(undefined)} />
      <Members team={isDialogOpen ? team : undefined} onClose={membersDialog.close} />
    </section>
  );
}

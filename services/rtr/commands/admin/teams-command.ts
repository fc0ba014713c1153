import { Command } from 'commander';
import { buildPath } from './admin-client.ts';
import type { Team } from './admin-answers.ts';
import { addCommand, type AdminContext, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { findTeam } from './find-party.ts';
import {
  readPartyChange,
  readRecordingChange,
  withPartySettings,
  withRecords,
  type PartySettings,
  type RecordsOption,
} from './party-settings.ts';
import {
  formatDay,
  formatMinute,
  printDone,
  printFacts,
  printList,
  formatRecording,
  formatValues,
} from './print-answers.ts';
import { createMembersCommand } from './team-members.ts';

const teamArgument = ['<team>', 'name or id of the team'] as const;

type TeamSettings = PartySettings & RecordsOption & AdminOptions & { name?: string };

export function createTeamsCommand(run: RunAdminCommand): Command {
  const command = new Command('teams').description('manage teams and their members');
  addCommand(command, 'list', 'list all teams').action((options: AdminOptions) =>
    run(options, (context) =>
      printList(context, context.client.list<Team>('/teams'), {
        head: ['ID', 'MEMBERS', 'CREATED', 'NAME'],
        row: ({ id, members, createdAt, name }) => [id, members.length, formatDay(createdAt), name],
        none: 'There are no teams yet. Make one with: rtr teams create <name>',
      }),
    ),
  );
  addCommand(command, 'show', 'show a team with members, limits and ceiling')
    .argument(...teamArgument)
    .action((team: string, options: AdminOptions) =>
      run(options, async (context) => printTeam(context, await findTeam(context.client, team))),
    );
  withPartySettings(addCommand(command, 'create', 'make a team without members'))
    .argument('<name>', 'name of the team')
    .action((name: string, options: TeamSettings) => run(options, (context) => createTeam(context, name, options)));
  withRecords(
    withPartySettings(addCommand(command, 'set', 'change the name, limits, weight, ceiling or recording of a team')),
  )
    .argument(...teamArgument)
    .option('--name <name>', 'the new name')
    .action((team: string, options: TeamSettings) => run(options, (context) => setTeam(context, team, options)));
  addCommand(command, 'delete', 'delete a team, and revoke its keys')
    .argument(...teamArgument)
    .action((text: string, options: AdminOptions) =>
      run(options, async (context) => {
        const { id, name } = await findTeam(context.client, text);
        await context.client.send('DELETE', buildPath`/teams/${id}`);
        printDone(context, { id, name, deleted: true }, `Team ${name} is deleted, and its keys are revoked.`);
      }),
    );
  command.addCommand(createMembersCommand(run));
  return command;
}

async function createTeam(context: AdminContext, name: string, options: TeamSettings): Promise<void> {
  const body = { name, ...readPartyChange({ limits: {}, ceiling: {} }, options) };
  const { value: team } = await context.client.send<Team>('POST', '/teams', { body });
  printDone(context, team, `Team ${team.name} has the id ${team.id}.`);
}

async function setTeam(
  context: AdminContext,
  text: string,
  { name, records, ...options }: TeamSettings,
): Promise<void> {
  const { client } = context;
  const { id } = await findTeam(client, text);
  const { value: current, etag } = await client.send<Team>('GET', buildPath`/teams/${id}`);
  const body = { name, ...readPartyChange(current, options), ...readRecordingChange({ records }) };
  printTeam(context, (await client.send<Team>('PATCH', buildPath`/teams/${id}`, { body, ifMatch: etag })).value);
}

export function printTeam(context: AdminContext, team: Team): void {
  const { id, name, limits, weight, ceiling, recording, createdAt, members } = team;
  printFacts(context, team, {
    name,
    id,
    limits: formatValues(limits),
    ceiling: formatValues(ceiling),
    weight,
    recorded: formatRecording(recording),
    created: formatMinute(createdAt),
    members: members.map(({ email, role }) => `${email} (${role})`).join(', '),
  });
}

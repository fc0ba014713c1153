import { Command, Option } from 'commander';
import { teamRoles, type TeamRole } from '#shared/accounts/people/team-store.ts';
import { RouterError } from '#shared/core/errors.ts';
import { buildPath } from './admin-client.ts';
import type { Team } from './admin-answers.ts';
import { addCommand, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { findTeam } from './find-party.ts';
import { printDone } from './print-answers.ts';

type MemberOptions = AdminOptions & { role: TeamRole };

export function createMembersCommand(run: RunAdminCommand): Command {
  const command = new Command('members').description('manage who is in a team');
  const role = () => new Option('--role <role>', 'role in the team').choices(teamRoles);
  withArguments(
    addCommand(
      command,
      'add',
      'add somebody who has an account to a team; somebody in the team already keeps their role',
    ),
  )
    .addOption(role().default('member'))
    .action((text: string, email: string, options: MemberOptions) =>
      run(options, async (context) => {
        const { id, name } = await findTeam(context.client, text);
        const body = { email, role: options.role };
        const { value } = await context.client.send<Team>('POST', buildPath`/teams/${id}/members`, { body });
        printDone(context, value, `${email} is in team ${name}, as ${options.role}.`);
      }),
    );
  withArguments(addCommand(command, 'set', 'give a member of a team another role'))
    .addOption(role().makeOptionMandatory())
    .action((text: string, user: string, options: MemberOptions) =>
      run(options, async (context) => {
        const team = await findTeam(context.client, text);
        const { id, email } = requireMember(team, user);
        const path = buildPath`/teams/${team.id}/members/${id}`;
        const { value } = await context.client.send<Team>('PUT', path, { body: { role: options.role } });
        printDone(context, value, `${email} is in team ${team.name}, as ${options.role}.`);
      }),
    );
  withArguments(addCommand(command, 'remove', 'remove somebody from a team')).action(
    (text: string, user: string, options: AdminOptions) =>
      run(options, async (context) => {
        const team = await findTeam(context.client, text);
        const { id, email } = requireMember(team, user);
        const { value } = await context.client.send<Team>('DELETE', buildPath`/teams/${team.id}/members/${id}`);
        printDone(context, value, `${email} is not in team ${team.name} any more.`);
      }),
  );
  return command;
}

function withArguments(command: Command): Command {
  return command.argument('<team>', 'name or id of the team').argument('<user>', 'email address of the person');
}

function requireMember({ name, members }: Team, user: string): Team['members'][number] {
  const member = members.find(({ id, email }) => id === user || email === user.toLowerCase());
  if (member) return member;
  throw new RouterError('not_found', `${user} is not in team ${name}.`);
}

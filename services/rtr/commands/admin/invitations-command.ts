import { Command, Option } from 'commander';
import { userRoles, type UserRole } from '#shared/accounts/people/user.ts';
import { RouterError } from '#shared/core/errors.ts';
import { buildPath, type AdminClient } from './admin-client.ts';
import { addCommand, type AdminContext, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { findTeam } from './find-party.ts';
import { formatDay, printDone, printList } from './print-answers.ts';

interface Invitation {
  id: string;
  email: string;
  role: UserRole;
  teamId?: string;
  createdAt: number;
  expiresAt: number;
}

export function createInvitationsCommand(run: RunAdminCommand): Command {
  const command = new Command('invitations').description('manage links with which people make an account');
  addCommand(command, 'list', 'list the open invitations').action((options: AdminOptions) =>
    run(options, (context) =>
      printList(context, context.client.list<Invitation>('/invitations'), {
        head: ['ID', 'ADDRESS', 'ROLE', 'CREATED', 'EXPIRES'],
        row: ({ id, email, role, createdAt, expiresAt }) => [
          id,
          email,
          role,
          formatDay(createdAt),
          formatDay(expiresAt),
        ],
        none: 'There are no open invitations.',
      }),
    ),
  );
  addCommand(command, 'create', 'invite somebody, and print the link to send to them')
    .argument('<address>', 'email address of the person')
    .addOption(new Option('--role <role>', 'role of the person').choices(userRoles).default('member'))
    .option('--team <team>', 'name or id of a team that they join')
    .action((email: string, options: AdminOptions & { role: UserRole; team?: string }) =>
      run(options, (context) => invite(context, email, options)),
    );
  addCommand(command, 'delete', 'withdraw an invitation')
    .argument('<invitation>', 'id of the invitation, or the address')
    .action((text: string, options: AdminOptions) =>
      run(options, async (context) => {
        const { id, email } = await findInvitation(context.client, text);
        await context.client.send('DELETE', buildPath`/invitations/${id}`);
        printDone(context, { id, email, deleted: true }, `The invitation of ${email} is withdrawn.`);
      }),
    );
  return command;
}

async function invite(
  context: AdminContext,
  email: string,
  { role, team }: { role: UserRole; team?: string },
): Promise<void> {
  const { client } = context;
  const teamId = team === undefined ? undefined : (await findTeam(client, team)).id;
  const body = { email, role, ...(teamId !== undefined && { teamId }) };
  const { value } = await client.send<{ invitation: Invitation; link: string }>('POST', '/invitations', { body });
  const { invitation, link } = value;
  printDone(
    context,
    { ...invitation, link },
    `${invitation.email} is invited until ${formatDay(invitation.expiresAt)} with this link, shown only this once: ${link}`,
  );
}

async function findInvitation(client: AdminClient, text: string): Promise<Invitation> {
  for await (const invitation of client.list<Invitation>('/invitations'))
    if (invitation.id === text || invitation.email === text.toLowerCase()) return invitation;
  throw new RouterError('not_found', `There is no open invitation ${text}.`);
}

import { Command, Option } from 'commander';
import { userRoles } from '#shared/accounts/people/user.ts';
import { buildPath } from './admin-client.ts';
import type { Person } from './admin-answers.ts';
import { addCommand, type AdminContext, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { findPerson, findReceiver, personArgument } from './find-party.ts';
import { readPartyChange, withPartySettings, type PartySettings } from './party-settings.ts';
import { formatDay, formatMinute, printDone, printFacts, printList, formatValues } from './print-answers.ts';
import { addSessionCommands } from './user-sessions.ts';

type UserSettings = PartySettings & AdminOptions & { role?: string };

export function createUsersCommand(run: RunAdminCommand): Command {
  const command = new Command('users').description('manage who has an account');
  addCommand(command, 'list', 'list everybody who has an account').action((options: AdminOptions) =>
    run(options, (context) =>
      printList(context, context.client.list<Person>('/users'), {
        head: ['ID', 'ADDRESS', 'ROLE', 'STATE', 'CREATED', 'LAST SEEN', 'NAME'],
        row: ({ id, email, role, blocked, createdAt, lastSeenAt, name }) => {
          const state = blocked ? 'blocked' : 'active';
          return [id, email, role, state, formatDay(createdAt), formatDay(lastSeenAt), name];
        },
        none: 'Nobody has an account yet. Make one with: rtr users create <address>',
      }),
    ),
  );
  addCommand(command, 'show', 'show a person with limits and ceiling')
    .argument(...personArgument)
    .action((user: string, options: AdminOptions) =>
      run(options, async (context) => printPerson(context, await findPerson(context.client, user))),
    );
  withPartySettings(addCommand(command, 'create', 'make an account for somebody who signs in later'))
    .argument('<address>', 'email address of the person')
    .option('--name <name>', 'name of the person; the part of the address before the @ without it')
    .addOption(createRoleOption())
    .action((email: string, options: UserSettings & { name?: string }) =>
      run(options, (context) => createUser(context, email, options)),
    );
  withPartySettings(addCommand(command, 'set', 'change the role, limits, weight or ceiling of a person, or block them'))
    .argument(...personArgument)
    .addOption(createRoleOption())
    .addOption(new Option('--block', 'refuse the person and their keys').conflicts('unblock'))
    .option('--unblock', 'let a blocked person in again')
    .action((user: string, options: UserSettings & { block?: true; unblock?: true }) =>
      run(options, (context) => setUser(context, user, options)),
    );
  addCommand(
    command,
    'rename',
    'change the name or address of a person; a new address ends their sessions; the current address is marked as confirmed',
  )
    .argument(...personArgument)
    .option('--name <name>', 'the new name')
    .option('--email <address>', 'the new address')
    .action((user: string, options: AdminOptions & { name?: string; email?: string }) =>
      run(options, async (context) => {
        const { id, email } = await findPerson(context.client, user);
        const body = { name: options.name, email: options.email };
        await context.client.send('PATCH', buildPath`/users/${id}/profile`, { body });
        printDone(context, { id, ...body }, `${email} is changed.`);
      }),
    );
  addCommand(command, 'delete', 'delete a person with keys, sessions and files; their usage stays in the ledger')
    .argument(...personArgument)
    .action((user: string, options: AdminOptions) =>
      run(options, async (context) => {
        const { id, email } = await findPerson(context.client, user);
        await context.client.send('DELETE', buildPath`/users/${id}`);
        printDone(context, { id, email, deleted: true }, `${email} is deleted, with all that was theirs.`);
      }),
    );
  addSessionCommands(command, run);
  return command;
}

function createRoleOption(): Option {
  return new Option('--role <role>', 'role of the person').choices(userRoles);
}

async function createUser(
  context: AdminContext,
  email: string,
  { name, role, ...options }: UserSettings & { name?: string },
): Promise<void> {
  const body = { email, name, role, ...readPartyChange({ limits: {}, ceiling: {} }, options) };
  const { value } = await context.client.send<Person>('POST', '/users', { body });
  const next = `Let them sign in at your provider, or with a link from: rtr users password-link ${value.email}`;
  printDone(context, value, `${value.email} has an account as ${value.role}. ${next}`);
}

async function setUser(
  context: AdminContext,
  user: string,
  { role, block, unblock, ...options }: UserSettings & { block?: true; unblock?: true },
): Promise<void> {
  const { client } = context;
  const onlyBlocks = block && !role && Object.keys(readPartyChange({ limits: {}, ceiling: {} }, options)).length === 0;
  const { id } = await (onlyBlocks ? findPerson : findReceiver)(client, user);
  const { value: current, etag } = await client.send<Person>('GET', buildPath`/users/${id}`);
  const blocked = block ? true : unblock ? false : undefined;
  const body = { role, blocked, ...readPartyChange(current, options) };
  const { value } = await client.send<Person>('PATCH', buildPath`/users/${id}`, { body, ifMatch: etag });
  printPerson(context, value);
}

function printPerson(context: AdminContext, person: Person): void {
  const { id, name, email, emailConfirmed, role, blocked, limits, weight, ceiling, createdAt, lastSeenAt, provider } =
    person;
  printFacts(context, person, {
    address: emailConfirmed ? email : `${email} (typed in by the person, not confirmed)`,
    id,
    name,
    role,
    state: blocked ? 'blocked' : 'active',
    'linked to': provider,
    limits: formatValues(limits),
    ceiling: formatValues(ceiling),
    weight,
    created: formatMinute(createdAt),
    'last seen': lastSeenAt === undefined ? undefined : formatMinute(lastSeenAt),
  });
}

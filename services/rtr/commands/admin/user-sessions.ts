import type { Command } from 'commander';
import { buildPath } from './admin-client.ts';
import { addCommand, type AdminContext, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { findPerson, personArgument } from './find-party.ts';
import { formatMinute, printDone, printList } from './print-answers.ts';

interface Session {
  id: string;
  startedAt: number;
  usedAt: number;
  address?: string;
  browser: string;
}

/** Adds the commands of `rtr users` for sign-in sessions, passwords and second factors. */
export function addSessionCommands(command: Command, run: RunAdminCommand): void {
  addCommand(command, 'sign-out', 'end all sessions, programs and admin tokens of a person')
    .argument(...personArgument)
    .action((user: string, options: AdminOptions) =>
      run(options, async (context) => {
        const { id, email } = await sendForPerson(context, user, 'POST', 'sign-out');
        printDone(context, { id, email, signedOut: true }, `All sessions and programs of ${email} are ended.`);
      }),
    );
  addCommand(
    command,
    'password-link',
    'print a link with which a person who has never used their account sets a password, within 24 hours',
  )
    .argument(...personArgument)
    .action((user: string, options: AdminOptions) =>
      run(options, async (context) => {
        const { id, email } = await findPerson(context.client, user);
        const { value } = await context.client.send<{ link: string }>('POST', buildPath`/users/${id}/password-link`);
        printDone(
          context,
          { id, email, ...value },
          `Open this link within 24 hours to set a password for ${email}: ${value.link}`,
        );
      }),
    );
  addCommand(command, 'reset-second-factor', 'remove the second factors of a person who has lost them')
    .argument(...personArgument)
    .action((user: string, options: AdminOptions) =>
      run(options, async (context) => {
        const { id, email } = await sendForPerson(context, user, 'DELETE', 'second-factor');
        printDone(context, { id, email, secondFactor: false }, `${email} has no second factor any more.`);
      }),
    );
  addCommand(
    command,
    'unlink',
    'unlink a person from an identity provider; their next sign-in with the same address links them again',
  )
    .argument(...personArgument)
    .action((user: string, options: AdminOptions) =>
      run(options, async (context) => {
        const { id, email } = await sendForPerson(context, user, 'DELETE', 'external-account');
        const next = 'All sessions and programs are ended. The next sign-in with this address links it anew.';
        printDone(
          context,
          { id, email, unlinked: true },
          `${email} is linked to no identity provider any more. ${next}`,
        );
      }),
    );
  addCommand(command, 'sessions', 'list the sessions of a person at the console')
    .argument(...personArgument)
    .action((user: string, options: AdminOptions) =>
      run(options, async (context) => {
        const { id } = await findPerson(context.client, user);
        await printList(context, context.client.list<Session>(buildPath`/users/${id}/sessions`), {
          head: ['ID', 'STARTED (UTC)', 'USED', 'ADDRESS', 'BROWSER'],
          row: (session) => {
            const { startedAt, usedAt, address = '-', browser } = session;
            return [session.id, formatMinute(startedAt), formatMinute(usedAt), address, browser];
          },
          none: 'The person is signed in nowhere.',
        });
      }),
    );
  addCommand(command, 'end-session', 'end a session of a person')
    .argument(...personArgument)
    .argument('<session>', 'id of the session')
    .action((user: string, session: string, options: AdminOptions) =>
      run(options, async (context) => {
        const { id, email } = await findPerson(context.client, user);
        await context.client.send('DELETE', buildPath`/users/${id}/sessions/${session}`);
        printDone(context, { id, session, ended: true }, `The session ${session} of ${email} is ended.`);
      }),
    );
}

/** Sends a request for a person, to which the router answers without content. Returns the person. */
async function sendForPerson(
  { client }: AdminContext,
  user: string,
  method: 'POST' | 'DELETE',
  action: string,
): Promise<{ id: string; email: string }> {
  const { id, email } = await findPerson(client, user);
  await client.send(method, `${buildPath`/users/${id}`}/${action}`);
  return { id, email };
}

import { Command, InvalidArgumentError } from 'commander';
import { adminScopes } from '#shared/accounts/admin-tokens/admin-token.ts';
import { createWholeNumberParser } from '../whole-number.ts';
import { buildPath } from './admin-client.ts';
import { addCommand, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { formatDay, formatMinute, printDone, printFacts, printList } from './print-answers.ts';

interface AdminToken {
  id: string;
  name: string;
  scopes: string[];
  createdAt: number;
  expiresAt: number;
  lastUsedAt?: number;
  owner?: { id: string; name: string };
  madeAt?: string;
}

export function createTokensCommand(run: RunAdminCommand): Command {
  const command = new Command('tokens').description('manage admin tokens, with which programs use the Admin API');
  addCommand(command, 'create', 'create an admin token and print it, once')
    .requiredOption('--name <name>', 'name of the token')
    .option('--scopes <list>', `what the token may do, of ${adminScopes.join(', ')}, separated by commas`, readScopes, [
      'read',
    ])
    .option('--days <days>', 'days until the token expires', createWholeNumberParser(1, 366), 90)
    .action((options: AdminOptions & { name: string; scopes: string[]; days: number }) =>
      run(options, async (context) => {
        const body = { name: options.name, scopes: options.scopes, expiresInDays: options.days };
        const { value } = await context.client.send<{ token: AdminToken; raw: string }>('POST', '/tokens', { body });
        const { token, raw } = value;
        const until = formatDay(token.expiresAt);
        const sentence = `Admin token "${token.name}", valid until ${until}, shown only this once: ${raw}`;
        printDone(context, { raw, ...token }, sentence);
      }),
    );
  addCommand(command, 'list', 'list the admin tokens').action((options: AdminOptions) =>
    run(options, (context) =>
      printList(context, context.client.list<AdminToken>('/tokens'), {
        head: ['ID', 'SCOPES', 'OWNER', 'CREATED', 'EXPIRES', 'LAST USED', 'NAME'],
        row: ({ id, scopes, owner, madeAt = '-', createdAt, expiresAt, lastUsedAt, name }) => {
          const days = [createdAt, expiresAt, lastUsedAt].map(formatDay);
          return [id, scopes.join(','), owner?.name ?? madeAt, ...days, name];
        },
        none: 'There are no admin tokens.',
      }),
    ),
  );
  addCommand(command, 'current', 'show the admin token that the command uses').action((options: AdminOptions) =>
    run(options, async (context) => {
      const token = await context.client.get<AdminToken & { role: string }>('/tokens/current');
      const { id, name, scopes, role, owner, madeAt, expiresAt } = token;
      printFacts(context, token, {
        name,
        id,
        scopes: scopes.join(', '),
        role,
        owner: owner?.name ?? madeAt,
        expires: formatMinute(expiresAt),
      });
    }),
  );
  addCommand(command, 'revoke', 'refuse an admin token from now on')
    .argument('<token>', 'id of the token')
    .action((id: string, options: AdminOptions) =>
      run(options, async (context) => {
        await context.client.send('DELETE', buildPath`/tokens/${id}`);
        printDone(context, { id, revoked: true }, `The admin token ${id} is revoked.`);
      }),
    );
  return command;
}

function readScopes(text: string): string[] {
  const scopes = text.split(',').map((scope) => scope.trim());
  if (scopes.every((scope) => adminScopes.some((adminScope) => adminScope === scope))) return scopes;
  throw new InvalidArgumentError(`must be some of ${adminScopes.join(', ')}.`);
}

import { Command, Option } from 'commander';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { createRouterKey, listKeys, revokeKey } from '../keys.ts';
import type { KeyCommandContext } from '../key-command.ts';
import { createWholeNumberParser } from '../whole-number.ts';
import { withAdminOptions, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { createApiKey, listApiKeys, revokeApiKey, rotateApiKey, setApiKey, showApiKey } from './keys.ts';
import type { KeySettings, NewKeyOptions } from './key-settings.ts';
import { readFutureTime } from './read-time.ts';
import { readListOrNone } from './named-values.ts';
import { withLimits, withRecords, type RecordsOption } from './party-settings.ts';

export interface RunKeyCommand {
  /** Runs a command on the Admin API. */
  overApi: RunAdminCommand;
  /** Runs a command directly on the account store, without a router. */
  inStore: (options: AdminOptions, command: (context: KeyCommandContext) => Promise<unknown>) => Promise<void>;
  /** Whether the user has named a router or set an admin token. */
  namesRouter: (options: AdminOptions) => boolean;
}

/**
 * Creates `rtr keys …`, which manages the keys of the router, of people and of teams. If the user names no router and has no admin token,
 * router keys are created, listed and revoked in the account store, so that no router has to run.
 */
export function createKeysCommand({ overApi, inStore, namesRouter }: RunKeyCommand): Command {
  const command = new Command('keys').description('manage the keys of the router, of people and of teams');
  const add = (words: string, description: string) => withAdminOptions(command.command(words).description(description));
  const key = ['<key>', 'id of the key'] as const;
  withSettings(
    add('create', 'create a key and print it, once: a key of the router, unless an option names another owner'),
  )
    .requiredOption('--name <name>', 'name of the key')
    .addOption(
      new Option('--router-key', 'a key of the router, which belongs to nobody').conflicts(['team', 'user', 'own']),
    )
    .addOption(new Option('--user <address>', 'a key of the person with this address').conflicts(['team', 'own']))
    .addOption(new Option('--team <team>', 'a key of the team with this name or id').conflicts('own'))
    .option('--own', 'a key of the person who made the admin token')
    .action((options: AdminOptions & NewKeyOptions) =>
      namesRouter(options) || needsRouter(options)
        ? overApi(options, (context) => createApiKey(context, options))
        : inStore(options, (context) => createRouterKey(context, { ...options, class: options.class ?? 'normal' })),
    );
  add('list', 'list all keys, including revoked ones')
    .option('--owner <owner>', 'only the keys of user:<address> or team:<name>')
    .action((options: AdminOptions & { owner?: string }) =>
      namesRouter(options) || options.owner !== undefined
        ? overApi(options, (context) => listApiKeys(context, options.owner))
        : inStore(options, listKeys),
    );
  add('show', 'show a key with its settings, without its secret')
    .argument(...key)
    .action((id: string, options: AdminOptions) => overApi(options, (context) => showApiKey(context, id)));
  withRecords(withSettings(add('set', 'change the settings of a key')))
    .argument(...key)
    .option('--name <name>', 'the new name')
    .action((id: string, options: AdminOptions & KeySettings & RecordsOption & { name?: string }) =>
      overApi(options, (context) => setApiKey(context, id, options)),
    );
  add(
    'rotate',
    'create a successor with the same settings and print it, once; the replaced key expires after some hours',
  )
    .argument(...key)
    .option(
      '--overlap-hours <hours>',
      'hours for which the replaced key works too',
      createWholeNumberParser(0, 720),
      24,
    )
    .action((id: string, options: AdminOptions & { overlapHours: number }) =>
      overApi(options, (context) => rotateApiKey(context, id, options.overlapHours)),
    );
  add('revoke', 'refuse a key from now on')
    .argument('<key>', 'id of the key, or the key itself')
    .action((id: string, options: AdminOptions) =>
      namesRouter(options)
        ? overApi(options, (context) => revokeApiKey(context, id))
        : inStore(options, (context) => revokeKey(context, id)),
    );
  return command;
}

function withSettings(command: Command): Command {
  return withLimits(
    command
      .addOption(new Option('--class <class>', 'priority class of its requests').choices(priorityClasses))
      .option('--weight <turns>', 'turns in the queue for each turn of another key, 1 to 100')
      .option('--models <list>', 'models that the key may use, separated by commas; none: all', readListOrNone)
      .option('--tiers <list>', 'tiers that may serve the key, separated by commas; none: all', readListOrNone)
      .option(
        '--tools <name...>',
        'tools that the key may use, or `<server>/*` for all tools of an MCP server; none: all',
      )
      .option(
        '--expires <time>',
        'when the key expires: a date, or a time from now such as 30d; none: never',
        readFutureTime,
      ),
  );
}

/** Whether only a router can create a key with these options. */
function needsRouter({ user, team, own, limit, models, tiers, expires }: NewKeyOptions): boolean {
  return [user, team, own, limit, models, tiers, expires].some((value) => value !== undefined);
}

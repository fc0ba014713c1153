import { Command } from 'commander';
import { limitNames, type Limits } from '#shared/accounts/limits/limits.ts';
import type { Key } from '../../../console/contract/keys.ts';
import type { LimitUse } from '../../../console/contract/usage.ts';
import { addCommand, type AdminContext, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { buildPath, type AdminClient } from './admin-client.ts';
import { findParty } from './find-party.ts';
import { formatMinute, toTableLines } from '../table-lines.ts';
import { formatValues, toKebabCase } from './format-value.ts';
import { readNamedValues, readNumberOrNone } from './named-values.ts';

const partySyntax = 'user:<address>, team:<name> or key:<id>';

/** Creates `rtr limits …`, which shows and changes the limits of people, teams and keys alike. */
export function createLimitsCommand(run: RunAdminCommand): Command {
  const command = new Command('limits').description('See and change what people, teams and keys may use.');
  addCommand(command, 'show', 'Shows the limits of everybody or of one party, and how much of each limit is used now.')
    .argument('[party]', partySyntax)
    .action((text: string | undefined, options: AdminOptions) => run(options, (context) => showLimits(context, text)));
  addCommand(command, 'set', 'Changes limits.')
    .argument('<party>', partySyntax)
    .argument('<limits...>', 'such as requests-per-minute=60 cost-per-day=5; the value none removes a limit')
    .action((text: string, values: string[], options: AdminOptions) =>
      run(options, (context) => setLimits(context, text, values)),
    );
  return command;
}

async function showLimits({ client, print, json }: AdminContext, text: string | undefined): Promise<void> {
  const party = text === undefined ? undefined : await findParty(client, text);
  const allUses = await client.get<LimitUse[]>('/usage/now');
  const id = party?.id.startsWith('key:') ? `key:${await findNewestSuccessor(client, party.path)}` : party?.id;
  const uses = party ? allUses.filter((use) => use.party === id) : allUses;
  if (json) return uses.forEach((use) => print(JSON.stringify(use)));
  const rows = uses.flatMap((use) =>
    use.limits.map(({ name, limit, used, resetsAt }) => {
      const amounts = [Number(used.toFixed(6)), limit].map(String);
      return [use.party, use.name, toKebabCase(name), ...amounts, formatMinute(resetsAt)];
    }),
  );
  if (rows.length === 0) return print(party ? `${party.name} has no limits.` : 'Nobody has limits.');
  for (const line of toTableLines([['PARTY', 'NAME', 'LIMIT', 'USED', 'OF', 'RESETS (UTC)'], ...rows])) print(line);
}

/**
 * Returns the id of a key's newest successor, or of the key itself if it has no successor. The limits of the newest successor apply to the
 * use of all these keys together.
 */
async function findNewestSuccessor(client: AdminClient, path: string): Promise<string> {
  let newest = await client.get<Key>(path);
  while (newest.replacedBy !== undefined) newest = await client.get<Key>(buildPath`/keys/${newest.replacedBy}`);
  return newest.id;
}

async function setLimits(
  { client, print, json }: AdminContext,
  text: string,
  values: readonly string[],
): Promise<void> {
  const { id, path, name } = await findParty(client, text, true);
  const { etag, value: current } = await client.send<{ limits: Limits }>('GET', path);
  const changed = { ...current.limits, ...readNamedValues(values, limitNames, readNumberOrNone) };
  const body = { limits: Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null)) };
  const { limits } = (await client.send<{ limits: Limits }>('PATCH', path, { body, ifMatch: etag })).value;
  if (json) print(JSON.stringify({ party: id, limits }));
  else print(`Limits of ${name}: ${formatValues(limits) || 'none'}.`);
}

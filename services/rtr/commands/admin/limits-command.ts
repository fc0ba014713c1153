import { Command } from 'commander';
import { addCommand, type AdminContext, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { buildPath, type AdminClient } from './admin-client.ts';
import { findParty } from './find-party.ts';
import { mergeLimits } from './party-settings.ts';
import { toKebabCase, formatMinute, printDone, printList, formatValues } from './print-answers.ts';
import type { Key, Person, Team } from './admin-answers.ts';

interface LimitUse {
  party: string;
  name: string;
  limits: { name: string; limit: number; used: number; resetsAt?: number }[];
}

const partySyntax = 'user:<address>, team:<name> or key:<id>';

export function createLimitsCommand(run: RunAdminCommand): Command {
  const command = new Command('limits').description('see and change what people, teams and keys may use');
  addCommand(command, 'show', 'show the limits of everybody or of one party, and how much of each limit is used now')
    .argument('[party]', partySyntax)
    .action((text: string | undefined, options: AdminOptions) => run(options, (context) => showLimits(context, text)));
  addCommand(command, 'set', 'change limits')
    .argument('<party>', partySyntax)
    .argument('<limits...>', 'such as requests-per-minute=60 cost-per-day=5; the value none removes a limit')
    .action((text: string, values: string[], options: AdminOptions) =>
      run(options, (context) => setLimits(context, text, values)),
    );
  return command;
}

async function showLimits(context: AdminContext, text: string | undefined): Promise<void> {
  const { client, json } = context;
  const party = text === undefined ? undefined : await findParty(client, text);
  const allUses = await client.get<LimitUse[]>('/usage/now');
  const id = party?.kind === 'key' ? await findNewestSuccessor(client, party.value) : party?.value.id;
  const uses = party ? allUses.filter(({ party: partyId }) => partyId === `${party.kind}:${id}`) : allUses;
  if (json) return printList(context, uses, { head: [], row: () => [], none: '' });
  const rows = uses.flatMap((use) => use.limits.map((limit) => ({ ...limit, use })));
  await printList(context, rows, {
    head: ['PARTY', 'NAME', 'LIMIT', 'USED', 'OF', 'RESETS (UTC)'],
    row: ({ use, name, limit, used, resetsAt }) => {
      return [use.party, use.name, toKebabCase(name), Number(used.toFixed(6)), limit, formatMinute(resetsAt)];
    },
    none: party ? `${party.name} has no limits.` : 'Nobody has limits.',
  });
}

/**
 * Returns the id of a key's newest successor, or of the key itself if it has no successor. The limits of the newest successor apply to the
 * use of all these keys together.
 */
async function findNewestSuccessor(client: AdminClient, key: Key): Promise<string> {
  let newest = key;
  while (newest.replacedBy !== undefined) newest = await client.get<Key>(buildPath`/keys/${newest.replacedBy}`);
  return newest.id;
}

async function setLimits(context: AdminContext, text: string, values: readonly string[]): Promise<void> {
  const { client } = context;
  const { path, name, kind, value } = await findParty(client, text, true);
  const { etag, value: current } = await client.send<Person | Team | Key>('GET', path);
  const body = { limits: mergeLimits(current.limits, values) };
  const { value: changed } = await client.send<Person | Team | Key>('PATCH', path, { body, ifMatch: etag });
  const { limits } = changed;
  const sentence = `Limits of ${name}: ${formatValues(limits) || 'none'}.`;
  printDone(context, { party: `${kind}:${value.id}`, limits }, sentence);
}

import type { Command } from 'commander';
import { Option } from 'commander';
import { purposes } from '#shared/core/purpose.ts';
import { tiers } from '#shared/core/tier.ts';
import { computeNamedPeriod, type NamedPeriod, type Period } from '#shared/accounts/periods.ts';
import type { AdminClient, Query } from './admin-client.ts';
import type { AdminOptions } from './admin-context.ts';
import { findPerson, findTeam } from './find-party.ts';
import { formatMinute } from './print-answers.ts';
import { readPastTime } from './read-time.ts';

export interface UsageOptions extends AdminOptions {
  from?: number;
  to?: number;
  model?: string;
  key?: string;
  team?: string;
  user?: string;
  tier?: string;
  purpose?: string;
  outcome?: string;
  recorded?: boolean;
}

export function withSpan(command: Command, defaultFrom: string): Command {
  return command
    .option(
      '--from <time>',
      `beginning of the period: a date, or a number of hours or days until now, such as 7d; ${defaultFrom}`,
      (text) => readPastTime(text),
    )
    .option('--to <time>', 'end of the period, in the same form; default: now', (text) => readPastTime(text));
}

/** Adds the options that filter requests by owner, model, tier and purpose. */
export function withFilters(command: Command): Command {
  return withOwners(command)
    .option('--model <model>', 'only requests of this model')
    .addOption(new Option('--tier <tier>', 'only requests of this tier').choices(tiers))
    .addOption(new Option('--purpose <purpose>', 'only requests for this purpose').choices(purposes));
}

export function withOwners(command: Command): Command {
  return command
    .option('--key <id>', 'only of the key with this id')
    .option('--team <team>', 'only of the team with this name or id')
    .option('--user <address>', 'only of the person with this address');
}

/**
 * Returns the period that was given as options.
 * @param defaultPeriod length of the period if no beginning was given
 */
export function readPeriod({ from, to = Date.now() }: UsageOptions, defaultPeriod: NamedPeriod = '30d'): Period {
  return { from: from ?? computeNamedPeriod(defaultPeriod, to - 1).from, to };
}

/** Describes the period of a report in one sentence, in UTC. */
export function formatPeriod({ from, to }: Period): string {
  return `Requests that began from ${formatMinute(from)} to ${formatMinute(to)} (UTC).`;
}

/** Returns the filters that were given as options. Replaces names of people and teams with ids. */
export async function readFilter(client: AdminClient, options: UsageOptions): Promise<Query> {
  const { model, key, team, user, tier, purpose, outcome, recorded } = options;
  return {
    model,
    key,
    team: team === undefined ? undefined : (await findTeam(client, team)).id,
    user: user === undefined ? undefined : (await findPerson(client, user)).id,
    tier,
    purpose,
    outcome,
    recorded: recorded === undefined ? undefined : String(recorded),
  };
}

import type { Command } from 'commander';
import { Option } from 'commander';
import { purposes } from '#shared/core/purpose.ts';
import { tiers } from '#shared/core/tier.ts';
import { computeNamedPeriod, type NamedPeriod, type Period } from '#shared/accounts/periods.ts';
import type { AdminClient, Query } from './admin-client.ts';
import type { AdminOptions } from './admin-context.ts';
import { findPerson, findTeam } from './find-party.ts';
import { minuteText } from './print-answers.ts';
import { pastTime } from './read-time.ts';

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

export function withSpan(command: Command, from: string): Command {
  return command
    .option('--from <time>', `its beginning: a date, or the last hours or days, as 7d; ${from}`, (text) =>
      pastTime(text),
    )
    .option('--to <time>', 'its end, the same; now without it', (text) => pastTime(text));
}

/** Adds the options that filter requests by owner, model, tier and purpose. */
export function withFilters(command: Command): Command {
  return withOwners(command)
    .option('--model <model>', 'of this model only')
    .addOption(new Option('--tier <tier>', 'of this tier only').choices(tiers))
    .addOption(new Option('--purpose <purpose>', 'for this purpose only').choices(purposes));
}

export function withOwners(command: Command): Command {
  return command
    .option('--key <id>', 'of this key only')
    .option('--team <team>', 'of the team with this name or id only')
    .option('--user <address>', 'of the person with this address only');
}

/**
 * Returns the time span that the options name.
 * @param name length of the span if the options name no beginning
 */
export function spanOf({ from, to = Date.now() }: UsageOptions, name: NamedPeriod = '30d'): Period {
  return { from: from ?? computeNamedPeriod(name, to - 1).from, to };
}

/** Returns a sentence about the period whose requests are summed up, in UTC. */
export function periodLine({ from, to }: Period): string {
  return `Requests that began from ${minuteText(from)} to ${minuteText(to)} (UTC).`;
}

/** Returns the filters that the options name. Names of people and teams are replaced by their ids. */
export async function filterOf(client: AdminClient, options: UsageOptions): Promise<Query> {
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

import { Option, type Command } from 'commander';
import { limitNames, type Limits } from '#shared/accounts/limits/limits.ts';
import type { Ceiling } from '#shared/accounts/people/ceiling.ts';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { tiers } from '#shared/core/tier.ts';
import { wholeNumber } from '../whole-number.ts';
import { listOrNone, namedValue, namedValues, noneAsNull, numberOrNone, type OrNone } from './named-values.ts';

export interface PartySettings {
  limit?: string[];
  weight?: number;
  ceilingModels?: OrNone<string[]>;
  ceilingTiers?: OrNone<string[]>;
  ceilingClass?: OrNone<string>;
}

export function withLimits(command: Command): Command {
  return command.option('--limit <name=value>', 'a limit, as cost-per-day=5; none removes it; repeatable', namedValue);
}

/** The option that says whether requests are recorded: `on` or `off`. */
export interface RecordsOption {
  records?: string | undefined;
}

export function withRecords(command: Command): Command {
  const description = 'whether prompts and answers are recorded: on or off';
  return command.addOption(new Option('--records <switch>', description).choices(['on', 'off']));
}

export function recordsChange({ records }: RecordsOption): { records?: boolean } {
  return records === undefined ? {} : { records: records === 'on' };
}

export function withPartySettings(command: Command): Command {
  return withCeiling(
    withLimits(command).option(
      '--weight <turns>',
      'turns in the queue for each one of another, 1 to 100',
      wholeNumber(1, 100),
    ),
  );
}

export function withCeiling(command: Command): Command {
  return command
    .option('--ceiling-models <list>', 'models that may be used at most, separated by commas; none: all', listOrNone)
    .option('--ceiling-tiers <list>', `tiers that may be used at most, of ${tiers.join(', ')}; none: all`, listOrNone)
    .option('--ceiling-class <class>', `highest class of requests, of ${priorityClasses.join(', ')}; none: any`);
}

/** Returns the change that the options ask for. Limits and the ceiling are merged with the current ones. */
export function partyChange(
  now: { limits: Limits; ceiling: Ceiling },
  { limit, weight, ...ceiling }: PartySettings,
): { limits?: object; weight?: number; ceiling?: object } {
  const changed = changedCeiling(now.ceiling, ceiling);
  return {
    ...(limit !== undefined && { limits: changedLimits(now.limits, limit) }),
    ...(weight !== undefined && { weight }),
    ...(changed !== undefined && { ceiling: changed }),
  };
}

/**
 * Returns the current limits, changed by texts `name=value`.
 * @throws RouterError `invalid_request`
 */
export function changedLimits(now: Limits, values: readonly string[]): object {
  return withoutNulls({ ...now, ...namedValues(values, limitNames, numberOrNone) });
}

function changedCeiling(now: Ceiling, input: Omit<PartySettings, 'limit' | 'weight'>): object | undefined {
  const { ceilingModels: models, ceilingTiers: of, ceilingClass: maxClass } = input;
  if (models === undefined && of === undefined && maxClass === undefined) return undefined;
  return withoutNulls({
    ...now,
    ...(models !== undefined && { models: noneAsNull(models) }),
    ...(of !== undefined && { tiers: noneAsNull(of) }),
    ...(maxClass !== undefined && { maxClass: noneAsNull(maxClass) }),
  });
}

function withoutNulls(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined));
}

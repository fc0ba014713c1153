import { Option, type Command } from 'commander';
import { limitNames, type Limits } from '#shared/accounts/limits/limits.ts';
import type { Ceiling } from '#shared/accounts/people/ceiling.ts';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { tiers } from '#shared/core/tier.ts';
import { createWholeNumberParser } from '../whole-number.ts';
import {
  readListOrNone,
  collectNamedValue,
  readNamedValues,
  noneAsNull,
  readNumberOrNone,
  type OrNone,
} from './named-values.ts';

export interface PartySettings {
  limit?: string[];
  weight?: number;
  ceilingModels?: OrNone<string[]>;
  ceilingTiers?: OrNone<string[]>;
  ceilingClass?: OrNone<string>;
}

export function withLimits(command: Command): Command {
  return command.option(
    '--limit <name=value>',
    'a limit, such as cost-per-day=5; the value none removes the limit; repeatable',
    collectNamedValue,
  );
}

/** The option `--records`, which switches recording on or off. */
export interface RecordsOption {
  records?: string | undefined;
}

export function withRecords(command: Command): Command {
  const description = 'whether prompts and answers are recorded: on or off';
  return command.addOption(new Option('--records <switch>', description).choices(['on', 'off']));
}

export function readRecordingChange({ records }: RecordsOption): { records?: boolean } {
  return records === undefined ? {} : { records: records === 'on' };
}

export function withPartySettings(command: Command): Command {
  return withCeiling(
    withLimits(command).option(
      '--weight <turns>',
      'turns in the queue for each turn of somebody else, 1 to 100',
      createWholeNumberParser(1, 100),
    ),
  );
}

export function withCeiling(command: Command): Command {
  return command
    .option(
      '--ceiling-models <list>',
      'the only models that may be used, separated by commas; none: all',
      readListOrNone,
    )
    .option(
      '--ceiling-tiers <list>',
      `the only tiers that may be used, separated by commas: ${tiers.join(', ')}; none: all`,
      readListOrNone,
    )
    .option('--ceiling-class <class>', `highest class of requests: ${priorityClasses.join(', ')}; none: any`);
}

/**
 * Converts the options into the body of a request. Merges the limits and the ceiling in the options with the current limits and ceiling.
 * @param current the current limits and ceiling
 */
export function readPartyChange(
  current: { limits: Limits; ceiling: Ceiling },
  { limit, weight, ...ceiling }: PartySettings,
): { limits?: object; weight?: number; ceiling?: object } {
  const ceilingChange = mergeCeiling(current.ceiling, ceiling);
  return {
    ...(limit !== undefined && { limits: mergeLimits(current.limits, limit) }),
    ...(weight !== undefined && { weight }),
    ...(ceilingChange !== undefined && { ceiling: ceilingChange }),
  };
}

/**
 * Returns the current limits, changed by texts `name=value`.
 * @throws RouterError `invalid_request`
 */
export function mergeLimits(current: Limits, values: readonly string[]): object {
  return withoutNulls({ ...current, ...readNamedValues(values, limitNames, readNumberOrNone) });
}

function mergeCeiling(current: Ceiling, input: Omit<PartySettings, 'limit' | 'weight'>): object | undefined {
  const { ceilingModels: models, ceilingTiers, ceilingClass: maxClass } = input;
  if (models === undefined && ceilingTiers === undefined && maxClass === undefined) return undefined;
  return withoutNulls({
    ...current,
    ...(models !== undefined && { models: noneAsNull(models) }),
    ...(ceilingTiers !== undefined && { tiers: noneAsNull(ceilingTiers) }),
    ...(maxClass !== undefined && { maxClass: noneAsNull(maxClass) }),
  });
}

function withoutNulls(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined));
}

import { z } from 'zod';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';
import type { UsageRecord } from '../usage-record.ts';

/** Sums of turns. Times in ms, cost in nano-dollars. */
export interface SessionSums {
  requests: number;
  failed: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  reasoningTokens: number;
  cost: number;
  /** Time in the router's queue. */
  queueMs: number;
  /** Time with a worker. */
  modelMs: number;
  /** Time in the client's own tools before the turns. If tools ran at the same time, their times are added up. */
  toolMs: number;
  /** Sessions that began on a day. Only the sums of days have this count; it is 0 in all others. */
  sessions: number;
  /** Agents that were started in the session, or in the sessions of the day. */
  agents: number;
}

/** One letter for each sum. A field in Redis is named by the letter and the row's text, such as `n["model","qwen3","","gpu"]`. */
export const sumLetters = {
  requests: 'n',
  failed: 'f',
  promptTokens: 'p',
  cachedTokens: 'c',
  completionTokens: 'o',
  reasoningTokens: 'r',
  cost: '$',
  queueMs: 'q',
  modelMs: 'm',
  toolMs: 't',
  sessions: 's',
  agents: 'a',
} as const satisfies Record<keyof SessionSums, string>;

export const sumNames = Object.keys(sumLetters) as readonly (keyof SessionSums)[];

/**
 * A row of sums: of all turns, of a model with its rule and tier, or of a key. In a session, the row `all` has every sum. In a day, it has
 * only the counts of sessions and agents, because the rows of the keys have the other sums.
 */
export type SumsRow =
  | { kind: 'all' }
  | { kind: 'model'; model: string; rule: string; tier: string }
  | { kind: 'key'; key: string };

/** The id under which the agents of a session beyond the maximum are counted together. No agent has this id, see `readSessionName`. */
export const otherAgentsId = '*';

/** Returns the row that gets the sums of a new row when the maximum of rows is reached. */
export function toSubstituteRow(row: SumsRow): SumsRow {
  switch (row.kind) {
    case 'all':
      return row;
    case 'model':
      return { kind: 'model', model: '', rule: '', tier: '' };
    case 'key':
      return { kind: 'key', key: '' };
  }
}

export function createZeroSums(): SessionSums {
  const tokens = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };
  const times = { queueMs: 0, modelMs: 0, toolMs: 0 };
  return { requests: 0, failed: 0, ...tokens, cost: 0, ...times, sessions: 0, agents: 0 };
}

export function addSums(sums: SessionSums, addend: SessionSums): void {
  for (const name of sumNames) sums[name] += addend[name];
}

export function sumAll(addends: Iterable<SessionSums>): SessionSums {
  const sums = createZeroSums();
  for (const addend of addends) addSums(sums, addend);
  return sums;
}

export function computeSums(record: UsageRecord): SessionSums {
  const { outcome, promptTokens, cachedTokens, completionTokens, reasoningTokens, cost, turn, totalMs } = record;
  // A request that no worker got was in the queue until its end.
  const queueMs = Math.round(Math.min(totalMs, record.queueMs ?? totalMs));
  return {
    ...createZeroSums(),
    requests: 1,
    failed: Number(outcome === 'failed'),
    promptTokens,
    cachedTokens,
    completionTokens,
    reasoningTokens,
    cost,
    queueMs,
    modelMs: Math.max(0, Math.round(totalMs) - queueMs),
    toolMs: turn?.tools?.ms ?? 0,
  };
}

/** Returns the sums that are counted by model. The other sums are 0. */
export function pickModelSums(sums: SessionSums): SessionSums {
  const { requests, promptTokens, cachedTokens, completionTokens, cost } = sums;
  return { ...createZeroSums(), requests, promptTokens, cachedTokens, completionTokens, cost };
}

export function encodeSumsRow(row: SumsRow): string {
  switch (row.kind) {
    case 'all':
      return JSON.stringify([row.kind]);
    case 'model':
      return JSON.stringify([row.kind, row.model, row.rule, row.tier]);
    case 'key':
      return JSON.stringify([row.kind, row.key]);
  }
}

/** Decodes the text of a row. Returns undefined for a kind of row that this release does not define. */
export function decodeSumsRow(text: string): SumsRow | undefined {
  const { data } = createStoredSchema(z.array(z.string())).safeParse(text);
  const [kind, modelOrKey = '', rule = '', tier = ''] = data ?? [];
  switch (kind) {
    case 'all':
      return { kind };
    case 'model':
      return { kind, model: modelOrKey, rule, tier };
    case 'key':
      return { kind, key: modelOrKey };
    default:
      return undefined;
  }
}

export function readSums(fields: Readonly<Record<string, string>>): Map<string, SessionSums> {
  const byLetter = new Map(sumNames.map((name) => [sumLetters[name] as string, name]));
  const rows = new Map<string, SessionSums>();
  for (const [field, value] of Object.entries(fields)) {
    const name = byLetter.get(field.charAt(0));
    const text = field.slice(1);
    if (name === undefined || !text.startsWith('[')) continue;
    let sums = rows.get(text);
    if (!sums) rows.set(text, (sums = createZeroSums()));
    sums[name] = Number(value) || 0;
  }
  return rows;
}

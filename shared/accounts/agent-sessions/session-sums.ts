import { z } from 'zod';
import { storedJson } from '../redis/stored-value.ts';
import type { UsageRecord } from '../ledger/usage-record.ts';

/** What turns came to. Times in ms, cost in nano-dollars. */
export interface SessionSums {
  requests: number;
  failed: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  reasoningTokens: number;
  cost: number;
  /** In the queue of the router. */
  queueMs: number;
  /** With a worker. */
  modelMs: number;
  /** Of the client's own tools before the turns; those that ran at the same time count each. */
  toolMs: number;
  /** Of the sums of a day: sessions that began then. */
  sessions: number;
  /** Agents that were started: in the session, or in the sessions of the day. */
  agents: number;
}

/** One letter for each sum: a field's name in Redis is the letter and then the row, `n["model","qwen3","","gpu"]`. */
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
 * What sums are of: what served, a key; `all` has all sums of a
 * session, and the counts of sessions and agents of a day, whose other sums are those of its keys.
 */
export type SumsRow =
  | { kind: 'all' }
  | { kind: 'model'; model: string; rule: string; tier: string }
  | { kind: 'key'; key: string };

/** Stands for the agents of a session that came when there were as many as may be. No agent is called so. */
export const furtherAgents = '*';

/** The row for what comes when there are as many rows as may be. */
export function substituteOf(row: SumsRow): SumsRow {
  switch (row.kind) {
    case 'all':
      return row;
    case 'model':
      return { kind: 'model', model: '', rule: '', tier: '' };
    case 'key':
      return { kind: 'key', key: '' };
  }
}

export function noSums(): SessionSums {
  const tokens = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };
  const times = { queueMs: 0, modelMs: 0, toolMs: 0 };
  return { requests: 0, failed: 0, ...tokens, cost: 0, ...times, sessions: 0, agents: 0 };
}

/** Adds to sums, in place. */
export function addSums(to: SessionSums, more: SessionSums): void {
  for (const name of sumNames) to[name] += more[name];
}

/** All of them together. */
export function sumOf(all: Iterable<SessionSums>): SessionSums {
  const sum = noSums();
  for (const each of all) addSums(sum, each);
  return sum;
}

/** What one turn adds. */
export function sumsOf(record: UsageRecord): SessionSums {
  const { outcome, promptTokens, cachedTokens, completionTokens, reasoningTokens, cost, turn, totalMs } = record;
  // A request that no worker has taken was in the queue until its end.
  const queueMs = Math.round(Math.min(totalMs, record.queueMs ?? totalMs));
  return {
    ...noSums(),
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

/** What of them is kept by model. */
export function modelSumsOf(sums: SessionSums): SessionSums {
  const { requests, promptTokens, cachedTokens, completionTokens, cost } = sums;
  return { ...noSums(), requests, promptTokens, cachedTokens, completionTokens, cost };
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

/** A row from its text; undefined when it is none, or one of another release. */
export function decodeSumsRow(text: string): SumsRow | undefined {
  const { data } = storedJson(z.array(z.string())).safeParse(text);
  const [kind, first = '', rule = '', tier = ''] = data ?? [];
  switch (kind) {
    case 'all':
      return { kind };
    case 'model':
      return { kind, model: first, rule, tier };
    case 'key':
      return { kind, key: first };
    default:
      return undefined;
  }
}

/** The sums of a hash, by the text of their row. */
export function readSums(fields: Readonly<Record<string, string>>): Map<string, SessionSums> {
  const byLetter = new Map(sumNames.map((name) => [sumLetters[name] as string, name]));
  const rows = new Map<string, SessionSums>();
  for (const [field, value] of Object.entries(fields)) {
    const name = byLetter.get(field.charAt(0));
    const text = field.slice(1);
    if (name === undefined || !text.startsWith('[')) continue;
    let sums = rows.get(text);
    if (!sums) rows.set(text, (sums = noSums()));
    sums[name] = Number(value) || 0;
  }
  return rows;
}

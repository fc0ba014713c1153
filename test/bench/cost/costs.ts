import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { sideOf } from '../peers/results/summary.ts';
import type { PeerResults } from '../peers/results/peer-results.ts';

/** What the router costs, as ratios of the processor time of all its processes to that of another side in the same run. */
export interface Costs {
  /** A whole answer, 32 at a time, ÷ the bare proxy. */
  request: number;
  /** A stream, 256 at a time, ÷ the bare proxy. */
  stream: number;
  /** A whole answer for a key and a team with all kinds of limits, ÷ one without limits. */
  limits: number;
}

export const costNames = ['request', 'stream', 'limits'] as const satisfies readonly (keyof Costs)[];

/** A measured cost may be this many times the kept one. */
export const tolerance = 1.1;

/**
 * The lowest costs so far, by the maker of the processor, because the ratios of the same code differ by a fifth between makers. Only
 * `npm run bench -- --cost --update` changes them.
 */
export type KeptCosts = Readonly<Record<string, Costs>>;

export const keptCostsFile = join(import.meta.dirname, '../results/cost.json');

export function readKeptCosts(): KeptCosts {
  return JSON.parse(readFileSync(keptCostsFile, 'utf8')) as KeptCosts;
}

/** Returns the maker of this machine's processor. */
export function findMaker(): string {
  return /^\w+/.exec(cpus()[0]?.model ?? '')?.[0] ?? 'unknown';
}

/** Returns what is kept for a maker's processors; the highest costs of all for a maker that was not measured. */
export function keptFor(maker: string, kept: KeptCosts): Costs {
  const highest = (name: keyof Costs): number => Math.max(...Object.values(kept).map((costs) => costs[name]));
  return kept[maker] ?? { request: highest('request'), stream: highest('stream'), limits: highest('limits') };
}

/**
 * Computes the costs of a run of the cells of `cost/main.ts`.
 * @throws Error if a side was not measured
 */
export function computeCosts(results: PeerResults): Costs {
  return {
    request: computeRatio(results, 'request', 'rtr', 'express'),
    stream: computeRatio(results, 'stream', 'rtr', 'express'),
    limits: computeRatio(results, 'request', 'rtr, limited key and team, concurrency too', 'rtr'),
  };
}

/** Returns the names of the costs that are above what is kept, by more than the tolerance. */
export function findRisen(costs: Costs, kept: Costs): (keyof Costs)[] {
  return costNames.filter((name) => costs[name] > kept[name] * tolerance);
}

/** Returns the lower one of each pair of costs. */
export function keepLower(costs: Costs, kept: Costs): Costs {
  const lower = (name: keyof Costs): number => Math.min(costs[name], kept[name]);
  return { request: lower('request'), stream: lower('stream'), limits: lower('limits') };
}

/** The ratio of the least processor time of either side, because other programs, and cold code, only add to it. */
function computeRatio(results: PeerResults, cell: string, side: string, against: string): number {
  const cpu = sideOf(results, cell, side)?.values.cpu ?? [];
  const other = sideOf(results, cell, against)?.values.cpu ?? [];
  if (cpu.length === 0 || other.length === 0) throw new Error(`${cell}: ${side} or ${against} was not measured`);
  return Number((Math.min(...cpu) / Math.min(...other)).toPrecision(3));
}

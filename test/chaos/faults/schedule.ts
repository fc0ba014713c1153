import { seededRandom } from '../../helpers/seeded-random.ts';
import { faultKinds, faultNames, type FaultKind, type FaultName, type FaultTarget } from './fault-kinds.ts';

/** One fault of a schedule. Times are in milliseconds since its start. */
export interface Fault {
  name: FaultName;
  at: number;
  lastsMs: number;
  /** Index of the target among its kind: worker and engine 2 belong together. */
  index: number;
  /** In [0, 1): decides everything else. */
  draw: number;
}

/** Number of each target, and how many of them may be struck at once. */
const targets: Record<FaultTarget, { count: number; atOnce: number; restMs: number }> = {
  worker: { count: 5, atOnce: 2, restMs: 1_500 },
  engine: { count: 4, atOnce: 1, restMs: 300 },
  ingress: { count: 2, atOnce: 1, restMs: 1_500 },
  runner: { count: 3, atOnce: 1, restMs: 1_500 },
  // A server that was away must have caught up before the next one leaves.
  nats: { count: 3, atOnce: 1, restMs: 5_000 },
  redis: { count: 1, atOnce: 1, restMs: 3_000 },
  clients: { count: 2, atOnce: 1, restMs: 500 },
};

/** Milliseconds between two faults, at least and at most. */
const gap = [250, 1_100] as const;

/**
 * Plans the times and targets of faults. The same arguments give the same schedule. Kinds are dealt like cards, several packs in a row: a
 * kind that may not strike yet comes up as soon as it may.
 */
export function makeSchedule(seed: number, ms: number, names: readonly FaultName[] = faultNames): Fault[] {
  const random = seededRandom(seed);
  // The first random numbers of neighbouring seeds are alike.
  for (let count = 0; count < 8; count += 1) random();
  const faults: Fault[] = [];
  const struck: { target: FaultTarget; index: number; until: number }[] = [];
  let deck: FaultName[] = [];
  for (let at = 500; at < ms; at += between(gap, random())) {
    const mayStrike = (name: FaultName): boolean => choose(name, at, struck, 0) !== undefined;
    if (!deck.some(mayStrike) && names.some(mayStrike)) deck = [...deck, ...shuffle(names, random)];
    const found = deck.findIndex(mayStrike);
    const name = deck[found];
    if (name === undefined) continue;
    const index = choose(name, at, struck, random()) ?? 0;
    deck.splice(found, 1);
    const { target, lasts, restMs = targets[target].restMs }: FaultKind = faultKinds[name];
    const lastsMs = between(lasts, random());
    faults.push({ name, at, lastsMs, index, draw: random() });
    struck.push({ target, index, until: at + lastsMs + restMs });
  }
  return faults;
}

/** Returns a target of a kind that may be struck now, if there is any. */
function choose(
  name: FaultName,
  at: number,
  struck: readonly { target: FaultTarget; index: number; until: number }[],
  draw: number,
): number | undefined {
  const { target } = faultKinds[name];
  const { count, atOnce } = targets[target];
  const busy = struck.filter((one) => one.until > at && one.target === target).map(({ index }) => index);
  if (busy.length >= atOnce) return undefined;
  const free = Array.from({ length: count }, (_, index) => index).filter((index) => !busy.includes(index));
  return free[Math.floor(draw * free.length)];
}

function between([least, most]: readonly [number, number], draw: number): number {
  return Math.round(least + draw * (most - least));
}

function shuffle<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((value) => ({ value, rank: random() }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ value }) => value);
}

import type { Redis } from 'ioredis';
import { z } from 'zod';
import { callRedisAll } from '#shared/store/redis/call-redis.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';
import {
  toSpanName,
  listOwnerSuffixes,
  entityCounts,
  entityKinds,
  type SpanStep,
  type EntityCount,
} from './span-sums.ts';
import type { UsageViewer } from './usage-record.ts';

const hashesAtOnce = 48;

export interface SpanQuery {
  viewer: Pick<UsageViewer, 'isAdmin' | 'userId' | 'teamIds'>;
  step: SpanStep;
  /** The beginnings of the periods, in ms since 1970. */
  times: readonly number[];
}

/**
 * Reads the sums of periods that a viewer may see. An administrator gets the sums of everybody. Everybody else gets their own sums and the
 * sums of their teams.
 * @param onHash is called with the fields of each hash, and the position of its period in `times`
 * @throws RouterError `store_unavailable` while Redis is unavailable
 */
export async function readSpanHashes(
  redis: Redis,
  prefix: string,
  { viewer, step, times }: SpanQuery,
  onHash: (fields: Readonly<Record<string, string>>, index: number) => void,
): Promise<void> {
  const names = times.flatMap((time, index) =>
    listOwnerSuffixes(viewer).map((owner) => ({ index, name: `${prefix}spans:${toSpanName(step, time)}${owner}` })),
  );
  for (let from = 0; from < names.length; from += hashesAtOnce) {
    const batch = names.slice(from, from + hashesAtOnce);
    const commands = redis.pipeline();
    for (const { name } of batch) commands.hgetall(name);
    const hashes = (await callRedisAll(commands)) as Readonly<Record<string, string>>[];
    for (const [place, { index }] of batch.entries()) onHash(hashes[place] ?? {}, index);
  }
}

/** Parses the counts of a field; undefined for a text that cannot be read. */
export function parseCounts(text = ''): number[] | undefined {
  const counts = text.split(' ').map(Number);
  return counts.every(Number.isFinite) ? counts : undefined;
}

export function createZeroEntityCounts(): Record<EntityCount, number> {
  return { requests: 0, failed: 0, promptTokens: 0, completionTokens: 0, cost: 0 };
}

export function addEntityCounts(sums: Record<EntityCount, number>, counts: readonly number[]): void {
  for (const [place, name] of entityCounts.entries()) sums[name] += counts[place] ?? 0;
}

const keySchema = createStoredSchema(z.tuple([z.string(), z.string(), z.string()]));

/**
 * Parses the field of a key: the id of the key, and the id of its owner as `user` or `team`. The other of the two is empty, or both are if
 * the key has no owner. Returns undefined for other fields.
 */
export function parseKeyField(field: string): { key: string; user: string; team: string } | undefined {
  if (!field.startsWith(entityKinds.key)) return undefined;
  const { data } = keySchema.safeParse(field.slice(1));
  return data && { key: data[0], user: data[1], team: data[2] };
}

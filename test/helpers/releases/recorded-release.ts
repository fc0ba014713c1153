import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { headers as createHeaders } from '@nats-io/nats-core';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { jetstream, jetstreamManager, StorageType, type StreamConfig } from '@nats-io/jetstream';
import type { Redis } from 'ioredis';
import type { StoredPasskey } from '../console/software-passkey.ts';

/** What a test needs to use the data. All secrets were made for the recording. */
export interface RecordedFacts {
  /** When the stores were copied, in ms since 1970. */
  recordedAt: number;
  /** The prefix of all names. */
  prefix: string;
  /** Settings that an ingress needs to read the data. */
  settings: Record<string, string>;
  people: Record<'ada' | 'grace', { id: string; email: string; password: string }>;
  /** The second factors of Grace. */
  app: { secret: string; codes: string[] };
  passkey: StoredPasskey;
  team: { id: string; name: string };
  /** Keys of Grace, of the team, and without an owner, as clients send them. The team's key has a limit. */
  keys: Record<'grace' | 'team' | 'router', { id: string; raw: string }>;
  /** An admin token of Ada. */
  token: { id: string; raw: string };
  /** What the Admin API answered, by path. */
  answers: Record<string, unknown>;
  /** A file of Grace, which is text. */
  file: { id: string; name: string; content: string };
  /** A webhook of Grace. */
  webhook: { id: string; url: string; secret: string };
}

/** The data of a cluster that ran an earlier release, and what a test needs to use them. */
export interface RecordedRelease {
  facts: RecordedFacts;
  /** Everything in Redis: name, milliseconds until it expires (-1: never), and the value as DUMP writes it, in base64. */
  values: [name: string, expiresInMs: number, dump: string][];
  streams: { config: StreamConfig; messages: RecordedMessage[] }[];
}

interface RecordedMessage {
  subject: string;
  headers: [name: string, values: string[]][];
  /** In base64. */
  data: string;
}

const fileOf = (commit: string): string => join(import.meta.dirname, '../../fixtures/releases', `${commit}.json.gz`);

export function writeRelease(commit: string, release: RecordedRelease): void {
  writeFileSync(fileOf(commit), gzipSync(JSON.stringify(release), { level: 9 }));
}

export function readRelease(commit: string): RecordedRelease {
  return JSON.parse(gunzipSync(readFileSync(fileOf(commit))).toString()) as RecordedRelease;
}

/** Returns what Redis and the file streams of NATS hold under names with a prefix. */
export async function copyStores(
  redis: Redis,
  natsUrl: string,
  prefix: string,
): Promise<Omit<RecordedRelease, 'facts'>> {
  const values: RecordedRelease['values'] = [];
  for (const name of (await redis.keys(`${prefix}:*`)).toSorted()) {
    const dump = await redis.dumpBuffer(name);
    if (dump) values.push([name, await redis.pttl(name), dump.toString('base64')]);
  }
  return { values, streams: await withNats(natsUrl, (nc) => copyStreams(nc, prefix)) };
}

async function copyStreams(nc: NatsConnection, prefix: string): Promise<RecordedRelease['streams']> {
  const { streams } = await jetstreamManager(nc);
  const copies: RecordedRelease['streams'] = [];
  for await (const { config, state } of streams.list()) {
    if (config.storage !== StorageType.File || !config.name.startsWith(`${prefix}_`)) continue;
    const messages: RecordedMessage[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const message = await streams.getMessage(config.name, { seq });
      if (!message) continue;
      const { subject, data, header } = message;
      const headers = [...(header ?? [])];
      messages.push({ subject, headers, data: Buffer.from(data).toString('base64') });
    }
    copies.push({ config, messages });
  }
  return copies;
}

/**
 * Writes the data of a release into servers. Values get the time to live that they had. What limits counted in the day and month of the
 * recording counts for the present ones, and tokens expire as late from now as they did from then.
 */
export async function restoreStores(
  { facts: { recordedAt, prefix, token }, values, streams }: RecordedRelease,
  redis: Redis,
  natsUrl: string,
): Promise<void> {
  const presentNames = listPeriods(Date.now());
  const periods = new Map(listPeriods(recordedAt).map((period, index) => [period, presentNames[index]]));
  for (const [name, expiresInMs, dump] of values) {
    const [start, period = ''] = name.split(/:(?=[\d-]+$)/);
    const present = name.startsWith(`${prefix}:limit:`) && periods.get(period);
    await redis.restore(
      present ? `${start}:${present}` : name,
      Math.max(0, expiresInMs),
      Buffer.from(dump, 'base64'),
      'REPLACE',
    );
  }
  await redis.hincrby(`${prefix}:admin-token:${token.id}`, 'expiresAt', Date.now() - recordedAt);
  await withNats(natsUrl, async (nc) => {
    const manager = await jetstreamManager(nc);
    for (const { config, messages } of streams) {
      await manager.streams.add(config);
      for (const message of messages) await publish(nc, message);
    }
  });
}

/** Returns the names of the day and the month of a time in the counts of limits. */
function listPeriods(time: number): string[] {
  return [String(Math.floor(time / 86_400_000)), new Date(time).toISOString().slice(0, 7)];
}

async function publish(nc: NatsConnection, { subject, headers, data }: RecordedMessage): Promise<void> {
  const carried = createHeaders();
  for (const [name, values] of headers) for (const value of values) carried.append(name, value);
  await jetstream(nc).publish(subject, Buffer.from(data, 'base64'), { headers: carried });
}

async function withNats<T>(servers: string, use: (nc: NatsConnection) => Promise<T>): Promise<T> {
  const nc = await connect({ servers });
  try {
    return await use(nc);
  } finally {
    await nc.close();
  }
}

import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { callRedis, callRedisAll } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { readStored, StoredRecords, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { toStoredFields, createStoredSchema } from '#shared/store/redis/stored-value.ts';

const addVersion = new RedisScript(new URL('lua/add-version.lua', import.meta.url));

/** Maximum of stored versions. A version may have half a megabyte. */
const maxVersions = 50;

const factFields = {
  /** When the version was stored, in ms since 1970. */
  at: z.coerce.number(),
  /** Id of the person who stored the version, or of an admin token without an owner. */
  by: z.string(),
  /** Name of an admin token without an owner. Names of people are not stored here, because people may be deleted. */
  byName: z.string().optional(),
  /** The reason, in the words of the person. */
  note: z.string().optional(),
  /** Number of the version whose text this version restores. */
  revertOf: z.coerce.number().optional(),
};
const factsSchema = z.object({ ...factFields, bytes: z.coerce.number() });
const versionSchema = z.object({
  ...factFields,
  text: z.string(),
  config: createStoredSchema(z.record(z.string(), z.unknown())),
});

export type RegistryVersionFacts = z.output<typeof factsSchema> & { number: number };

/** A version with its text as written (`text`), and the content of the text (`config`). */
export type RegistryVersion = z.output<typeof versionSchema> & { number: number; etag: string };

/** A version to store. The caller has checked its text. */
export interface NewRegistryVersion {
  /** Number of the version that was edited, which must be the newest version. 0 if there was no version. */
  basedOn: number;
  text: string;
  config: Readonly<Record<string, unknown>>;
  by: string;
  byName?: string | undefined;
  note?: string | undefined;
  revertOf?: number | undefined;
}

/**
 * The versions of the registry that is edited at run time. The newest version is in use. This class does not check the text of a version.
 * Every method throws `store_unavailable` while Redis is unavailable.
 */
export class RegistryVersions {
  readonly #redis: Redis;
  readonly #names: AccountNames;
  readonly #report: ReportUnreadable;
  readonly #records: StoredRecords<z.output<typeof versionSchema>>;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, report: ReportUnreadable) {
    const names = accountNames(prefix);
    this.#redis = redis;
    this.#names = names;
    this.#report = report;
    const nameOf = (number: string): string => names.registryVersion(number);
    this.#records = new StoredRecords(redis, { kind: 'registry version', schema: versionSchema, nameOf, report });
  }

  /** Returns the number and the etag of the newest version; undefined if there is none. */
  async findNewest(): Promise<{ number: number; etag: string } | undefined> {
    const [member] = await callRedis(this.#redis.zrevrange(this.#names.registryVersions, 0, 0));
    return member === undefined ? undefined : parseMember(member);
  }

  /** Returns the number and the etag of the version before a number; undefined if there is none. */
  async findPrevious(number: number): Promise<{ number: number; etag: string } | undefined> {
    const range = [this.#names.registryVersions, `(${number}`, '-inf', 'LIMIT', 0, 1] as const;
    const [member] = await callRedis(this.#redis.zrevrangebyscore(...range));
    return member === undefined ? undefined : parseMember(member);
  }

  /**
   * Returns a version; undefined if there is none with this number, or it was removed.
   * @throws UnreadableRecordError
   */
  async find(number: number): Promise<RegistryVersion | undefined> {
    const found = await this.#records.find(String(number));
    return found && { ...found, number, etag: computeEtag(found.text) };
  }

  /** Returns all readable versions, newest first. */
  async list(): Promise<RegistryVersionFacts[]> {
    const members = await callRedis(this.#redis.zrevrange(this.#names.registryVersions, 0, -1));
    const numbers = members.map((member) => parseMember(member).number);
    const fields = Object.keys(factFields);
    const steps = this.#redis.pipeline();
    for (const number of numbers) {
      const name = this.#names.registryVersion(String(number));
      steps.hmget(name, ...fields).hstrlen(name, 'text');
    }
    const answers = await callRedisAll(steps);
    return numbers.flatMap((number, position) => {
      const values = answers[2 * position] as (string | null)[];
      const present = fields.flatMap((field, index) =>
        values[index] === null ? [] : [[field, values[index]] as const],
      );
      const read = readStored(factsSchema, { ...Object.fromEntries(present), bytes: answers[2 * position + 1] });
      if ('value' in read) return [{ number, ...read.value }];
      this.#report(`registry version ${number}`, read.reason);
      return [];
    });
  }

  /**
   * Stores a version, which then is the newest version. If `basedOn` is not the newest version, stores nothing and returns the number of
   * the newest version.
   */
  async add({
    basedOn,
    text,
    config,
    ...fields
  }: NewRegistryVersion): Promise<{ stored: number } | { newest: number }> {
    const args = {
      versionPrefix: this.#names.registryVersion(''),
      basedOn,
      etag: computeEtag(text),
      fields: toStoredFields(fields),
      maxVersions,
    };
    const texts = [text, JSON.stringify(config)];
    const reply = await addVersion.run(this.#redis, { keys: [this.#names.registryVersions], args, texts });
    const [isStored, number] = z.tuple([z.number(), z.number()]).parse(reply);
    return isStored === 1 ? { stored: number } : { newest: number };
  }
}

function parseMember(member: string): { number: number; etag: string } {
  const [number, etag = ''] = member.split(':');
  return { number: Number(number), etag };
}

function computeEtag(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 16);
}

import type { Redis } from 'ioredis';
import type { Sealer } from '#shared/core/seal.ts';
import { callRedis, storeUnavailable } from '../redis/call-redis.ts';
import { mapInPages } from '../redis/map-in-pages.ts';
import { RedisScript, scriptStart } from '../redis/redis-script.ts';
import { warnUnreadable, type ReportUnreadable } from '../redis/stored-records.ts';
import type { OwnerKeys } from '../secrets/owner-keys.ts';
import type { RecordingBounds } from './recording-settings.ts';
import {
  recordingFactsSchema,
  recordingPartyOf,
  type StoredRecording,
  type RecordingFields,
  type RecordingParty,
  type WholeRecording,
} from './recording.ts';

const commonScripts = [scriptStart, new URL('lua/recordings.lua', import.meta.url)];
const keepRecording = new RedisScript(...commonScripts, new URL('lua/keep.lua', import.meta.url));
const removeRecording = new RedisScript(...commonScripts, new URL('lua/remove.lua', import.meta.url));

/** Maximum of recordings that one call of Redis reads. */
const readAtOnce = 100;
/** Maximum of recordings that are read for one page. */
const maxReadPerPage = 2_000;

/** The outcome of storing a recording: `full` if there is no room for it, `gone` if its key was revoked meanwhile. */
export type KeepOutcome = 'kept' | 'full' | 'gone';

export interface RecordingFilter {
  /** Only recordings that one of these parties may see; undefined: all recordings. */
  parties: readonly RecordingParty[] | undefined;
  key?: string | undefined;
  session?: string | undefined;
}

/** A position in a list of recordings, the newest first. Of recordings stored at the same time, the larger `member` comes first. */
export interface RecordingPlace {
  keptAt: number;
  /** `<owner>/<id>`. */
  member: string;
}

/**
 * Recorded requests, in Redis, sealed with a key of their owner. They expire. Every method throws RouterError `store_unavailable` when
 * Redis does not answer.
 */
export class Recordings {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #base: string;
  readonly #bounds: RecordingBounds;
  readonly #keys: Pick<OwnerKeys, 'recordingSealer'>;
  readonly #report: ReportUnreadable;

  /** @param prefix start of all names in Redis */
  constructor(
    redis: Redis,
    prefix: string,
    dependencies: { bounds: RecordingBounds; keys: Pick<OwnerKeys, 'recordingSealer'>; report?: ReportUnreadable },
  ) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#base = `${prefix}recordings:`;
    this.#bounds = dependencies.bounds;
    this.#keys = dependencies.keys;
    this.#report = dependencies.report ?? warnUnreadable;
  }

  get keepMs(): number {
    return this.#bounds.keepMs;
  }

  /**
   * Stores a recording.
   * @param owner the id that owns the recording, see `storeOwnerOf`
   */
  async store(owner: string, facts: RecordingFields, request: Uint8Array, answer: Uint8Array): Promise<KeepOutcome> {
    const sealer = this.#sealer(owner);
    const { id, key, session } = facts;
    const party = recordingPartyOf(facts);
    const args = { prefix: this.#prefix, owner, id, party, key: key.id, session, ...this.#bounds };
    const texts = [
      sealer.seal(JSON.stringify(facts)),
      await sealer.sealBytes([request]),
      await sealer.sealBytes([answer]),
    ];
    return (await keepRecording.run(this.#redis, { args, texts })) as KeepOutcome;
  }

  /** Returns the recordings of requests with an id, the newest first. There are several if clients of several owners chose the same id. */
  async find(id: string): Promise<StoredRecording[]> {
    const owners = await callRedis(this.#redis.smembers(`${this.#base}request:${id}`));
    const found = await this.#readAll(owners.map((owner) => `${owner}/${id}`));
    return found.sort((one, other) => other.keptAt - one.keptAt);
  }

  /** Returns a recording with its content; undefined if it does not exist any more, or was sealed with a secret that is not set. */
  async readContent({ owner, facts: { id } }: StoredRecording): Promise<WholeRecording | undefined> {
    const name = `${this.#base}recording:${owner}/${id}`;
    const [at, facts, request, answer] = await callRedis(this.#redis.hmget(name, 'at', 'facts', 'request', 'answer'));
    const known = this.#open(`${owner}/${id}`, at, facts);
    const sealer = this.#sealer(owner);
    const [requestBytes, answerBytes] = [sealer.unsealBytes(request ?? ''), sealer.unsealBytes(answer ?? '')];
    return known && requestBytes && answerBytes && { ...known, request: requestBytes, answer: answerBytes };
  }

  /**
   * Returns a page of recordings, the newest first.
   * @param after the position of the last recording of the previous page
   * @returns `next` is the position after which the next page begins; undefined on the last page. A page that is not full may have further
   * pages after it
   */
  async list(
    { parties, key, session }: RecordingFilter,
    limit: number,
    after?: RecordingPlace,
  ): Promise<{ recordings: StoredRecording[]; next: RecordingPlace | undefined }> {
    const names = parties?.map((party) => `seen-by:${party}`) ?? ['all'];
    const recordings: StoredRecording[] = [];
    let place = after;
    for (let readCount = 0; readCount < maxReadPerPage; readCount += readAtOnce) {
      const { members, isEnd } = await this.#membersAfter(names, place);
      for (const recording of await this.#readAll(members.map(({ member }) => member))) {
        if (key !== undefined && recording.facts.key.id !== key) continue;
        if (session !== undefined && recording.facts.session !== session) continue;
        recordings.push(recording);
        if (recordings.length === limit) return { recordings, next: placeOf(recording) };
      }
      place = members.at(-1) ?? place;
      if (isEnd) return { recordings, next: undefined };
    }
    return { recordings, next: place };
  }

  /** Removes a recording. Returns false when it does not exist any more. */
  async delete({ owner, facts: { id } }: StoredRecording): Promise<boolean> {
    return (await removeRecording.run(this.#redis, { args: { prefix: this.#prefix, owner, id } })) === 1;
  }

  /** Returns the next members of several lists together, the newest first. */
  async #membersAfter(
    names: readonly string[],
    place: RecordingPlace | undefined,
  ): Promise<{ members: RecordingPlace[]; isEnd: boolean }> {
    const from = place?.keptAt ?? '+inf';
    const lists = await Promise.all(
      names.map(async (name) => {
        const found: RecordingPlace[] = [];
        // The first members may have the same millisecond as `place`, and may be listed already.
        for (let at = 0; ; at += readAtOnce) {
          const range = [`${this.#base}${name}`, from, '-inf', 'BYSCORE', 'REV', 'LIMIT', at, readAtOnce] as const;
          const reply = await callRedis(this.#redis.zrange(...range, 'WITHSCORES'));
          for (let index = 0; index < reply.length; index += 2) {
            const each = { member: reply[index] ?? '', keptAt: Number(reply[index + 1]) };
            if (place === undefined || isAfter(each, place)) found.push(each);
          }
          if (reply.length < 2 * readAtOnce) return { found, isEnd: true };
          if (found.length >= readAtOnce) return { found, isEnd: false };
        }
      }),
    );
    const all = lists.flatMap(({ found }) => found).sort((one, other) => (isAfter(one, other) ? 1 : -1));
    return { members: all.slice(0, readAtOnce), isEnd: lists.every(({ isEnd }) => isEnd) && all.length <= readAtOnce };
  }

  async #readAll(members: readonly string[]): Promise<StoredRecording[]> {
    const found = await mapInPages(members, async (member) => {
      const name = `${this.#base}recording:${member}`;
      const [at, facts] = await callRedis(this.#redis.hmget(name, 'at', 'facts'));
      return this.#open(member, at, facts) ?? [];
    });
    return found.flat();
  }

  #open(member: string, at: string | null | undefined, sealed: string | null | undefined): StoredRecording | undefined {
    // A recording without these fields has expired.
    if (typeof at !== 'string' || typeof sealed !== 'string') return undefined;
    const [owner = '', id = ''] = member.split('/');
    const text = this.#sealer(owner).unseal(sealed);
    const facts = text === undefined ? undefined : recordingFactsSchema.safeParse(JSON.parse(text)).data;
    if (!facts) {
      this.#report(`recording ${id}`, 'sealed with another secret, or written by another release');
      return undefined;
    }
    return { owner, keptAt: Number(at), facts };
  }

  #sealer(owner: string): Sealer {
    const sealer = this.#keys.recordingSealer(owner);
    if (!sealer) throw storeUnavailable('the secret of the cluster is not known yet');
    return sealer;
  }
}

function placeOf({ owner, keptAt, facts }: StoredRecording): RecordingPlace {
  return { keptAt, member: `${owner}/${facts.id}` };
}

function isAfter(one: RecordingPlace, other: RecordingPlace): boolean {
  return one.keptAt === other.keptAt ? one.member < other.member : one.keptAt < other.keptAt;
}

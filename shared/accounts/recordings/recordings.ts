import type { Redis } from 'ioredis';
import { OwnedStore, type KeepOutcome } from '#shared/store/owned-store/owned-store.ts';
import { callRedis } from '#shared/store/redis/call-redis.ts';
import { mapInPages } from '#shared/store/redis/map-in-pages.ts';
import { readNewest, type TimedPlace } from '#shared/store/redis/read-newest.ts';
import { warnUnreadable, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import type { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import type { RecordingBounds } from './recording-settings.ts';
import {
  recordingFactsSchema,
  toRecordingParty,
  type StoredRecording,
  type RecordingFields,
  type RecordingParty,
  type WholeRecording,
} from './recording.ts';

export const recordingStore = new OwnedStore(new URL('lua/recordings.lua', import.meta.url));

/**
 * Removes the recordings of an owner that a release before `recordingStore` has made. They are no longer listed, and expire.
 * @param prefix start of all names in Redis
 * @throws RouterError `store_unavailable`
 */
export async function removeEarlierRecordings(redis: Redis, prefix: string, owner: string): Promise<void> {
  const entries = `${prefix}recordings:entries-of:${owner}`;
  const ids = await callRedis(redis.hkeys(entries));
  for (const id of ids) await callRedis(redis.unlink(`${prefix}recordings:recording:${owner}/${id}`));
  await callRedis(redis.unlink(entries, `${prefix}recordings:of:${owner}`));
}

/** Bytes that are counted for each recording in addition to the bytes of its content. */
const recordBytes = 1_024;
/** Maximum of list entries that one call of Redis returns. */
const maxPerCall = 100;
/** Maximum of recordings that are read to fill one page. */
const maxReadPerPage = 2_000;

export interface RecordingFilter {
  /** Only recordings that one of these parties may see; undefined: all recordings. */
  parties: readonly RecordingParty[] | undefined;
  key?: string | undefined;
  session?: string | undefined;
}

/**
 * Recorded requests, in Redis, sealed with a key of their owner, until they expire. Every method throws RouterError `store_unavailable`
 * when Redis does not answer.
 */
export class Recordings {
  readonly #redis: Redis;
  readonly #prefix: string;
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
    this.#bounds = dependencies.bounds;
    this.#keys = dependencies.keys;
    this.#report = dependencies.report ?? warnUnreadable;
  }

  get keepMs(): number {
    return this.#bounds.keepMs;
  }

  /**
   * Stores a recording.
   * @param owner the owner of the recording, see `findStoreOwner`
   */
  async store(owner: string, facts: RecordingFields, request: Uint8Array, answer: Uint8Array): Promise<KeepOutcome> {
    const sealer = this.#keys.recordingSealer(owner);
    const content = {
      facts: sealer.seal(JSON.stringify(facts)),
      request: await sealer.sealBytes([request]),
      answer: await sealer.sealBytes([answer]),
    };
    const bytes = Object.values(content).reduce((sum, text) => sum + text.length, recordBytes);
    const thing = { owner, id: facts.id, entry: { bytes, party: toRecordingParty(facts) } };
    return recordingStore.keep(this.#redis, this.#prefix, thing, content, this.#bounds);
  }

  /** Returns the recordings of requests with this id, newest first. Several owners may have one, because clients choose the ids. */
  async find(id: string): Promise<StoredRecording[]> {
    const owners = await callRedis(this.#redis.smembers(`${this.#prefix}recording-request:${id}`));
    const found = await this.#readMembers(owners.map((owner) => `${owner}/${id}`));
    return found.sort((a, b) => b.keptAt - a.keptAt);
  }

  /** Returns a recording with its content; undefined if the recording is gone, or was sealed with a secret that is not set. */
  async readContent({ owner, facts: { id } }: StoredRecording): Promise<WholeRecording | undefined> {
    const name = `${this.#prefix}recording:${owner}:${id}`;
    const [at, facts, request, answer] = await callRedis(this.#redis.hmget(name, 'at', 'facts', 'request', 'answer'));
    const recording = this.#open(`${owner}/${id}`, at, facts);
    const sealer = this.#keys.recordingSealer(owner);
    const [requestBytes, answerBytes] = [sealer.unsealBytes(request ?? ''), sealer.unsealBytes(answer ?? '')];
    return recording && requestBytes && answerBytes && { ...recording, request: requestBytes, answer: answerBytes };
  }

  /**
   * Returns a page of recordings, newest first. A page may have fewer recordings than `limit` although further pages follow.
   * @param after `next` of the previous page
   * @returns `next` is the position after which the next page begins; undefined on the last page
   */
  async list(
    { parties, key, session }: RecordingFilter,
    limit: number,
    after?: TimedPlace,
  ): Promise<{ recordings: StoredRecording[]; next: TimedPlace | undefined }> {
    const names = (parties?.map((party) => `seen-by:${party}`) ?? ['all']).map(
      (name) => `${this.#prefix}recording-${name}`,
    );
    const recordings: StoredRecording[] = [];
    let place = after;
    for (let readCount = 0; readCount < maxReadPerPage; readCount += maxPerCall) {
      const found = await readNewest(this.#redis, names, maxPerCall, place);
      for (const recording of await this.#readMembers(found.map(({ member }) => member))) {
        if (key !== undefined && recording.facts.key.id !== key) continue;
        if (session !== undefined && recording.facts.session !== session) continue;
        recordings.push(recording);
        if (recordings.length === limit) return { recordings, next: toPlace(recording) };
      }
      place = found.at(-1);
      if (found.length < maxPerCall) return { recordings, next: undefined };
    }
    return { recordings, next: place };
  }

  /** Removes a recording. Returns false if the recording is gone already. */
  delete({ owner, facts: { id } }: StoredRecording): Promise<boolean> {
    return recordingStore.remove(this.#redis, this.#prefix, owner, id);
  }

  async #readMembers(members: readonly string[]): Promise<StoredRecording[]> {
    const found = await mapInPages(members, async (member) => {
      const name = `${this.#prefix}recording:${member.replace('/', ':')}`;
      const [at, facts] = await callRedis(this.#redis.hmget(name, 'at', 'facts'));
      return this.#open(member, at, facts) ?? [];
    });
    return found.flat();
  }

  #open(member: string, at: string | null | undefined, sealed: string | null | undefined): StoredRecording | undefined {
    // A recording without these fields has expired.
    if (typeof at !== 'string' || typeof sealed !== 'string') return undefined;
    const [owner = '', id = ''] = member.split('/');
    const text = this.#keys.recordingSealer(owner).unseal(sealed);
    const facts = text === undefined ? undefined : recordingFactsSchema.safeParse(JSON.parse(text)).data;
    if (!facts) {
      this.#report(`recording ${id}`, 'sealed with another secret, or written by another release');
      return undefined;
    }
    return { owner, keptAt: Number(at), facts };
  }
}

function toPlace({ owner, keptAt, facts }: StoredRecording): TimedPlace {
  return { at: keptAt, member: `${owner}/${facts.id}` };
}

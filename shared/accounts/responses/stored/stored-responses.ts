import { setImmediate } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { Sealer } from '#shared/core/seal.ts';
import { OwnedStore } from '#shared/store/owned-store/owned-store.ts';
import { callRedis } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import type { ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import type { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { OwnerQueue } from './owner-queue.ts';

export const responseStore = new OwnedStore(new URL('lua/stored.lua', import.meta.url));

/** The scripts that define `keepStored`. They are prepended to each script that stores a response together with something else. */
export const keepStoredScripts = responseStore.scripts;

const createScript = (name: string): RedisScript =>
  new RedisScript(...keepStoredScripts, new URL(`lua/${name}.lua`, import.meta.url));
const keepResponse = createScript('keep');
const readChain = createScript('read-chain');
const findItems = createScript('find-items');

/** Maximum length of the chain of responses that one response continues. */
const maxLinks = 1_000;

/** Maximum of items in one response, and of items to which one request refers. While Redis visits them, it serves nobody else. */
const maxItems = 10_000;

/** Bytes that are counted for each item, because Redis has an index of items by id. */
const itemBytes = 256;

/** The length of a sealed text, divided by the length of its content. Base64 has four characters for three bytes. */
const sealedFactor = 4 / 3;

/** Bytes of sealed responses that a request may read before it reserves memory for them. Most conversations have less. */
const unreservedBytes = 256 * 1024;

/** Characters of items after which other work of the event loop may run. Writing that many characters takes about a millisecond. */
const pieceLength = 256 * 1024;

/** The form of the ids that this router makes, and that clients may give items. Any other id counts as unknown. */
const idPattern = /^[\w-]{1,128}$/;

export interface StoredResponse {
  id: string;
  response: JsonObject;
  /** The items of the response's own input, each with an id. The input of the responses that it continues is not repeated. */
  input: JsonObject[];
  /** Id of the response that this response continues. */
  previous?: string | undefined;
}

export interface StoredResponsesBounds {
  /** Milliseconds for which a response is kept. */
  keepMs: number;
  /** Maximum bytes in Redis for one owner. */
  ownerBytes: number;
  /** Maximum bytes in Redis for all owners. */
  totalBytes: number;
  /** Maximum bytes of the history that one request continues. */
  historyBytes: number;
}

/** A response, prepared for the script function `keepStored`. */
export interface StorableResponse {
  args: Readonly<Record<string, unknown>>;
  /** The sealed response. */
  content: string;
  /** The entry of the response, as JSON. */
  entry: string;
}

export type KeepOutcome = 'kept' | 'too large' | 'no owner';

/**
 * Reserves memory for the stored responses that one read is about to return. Called again when they have grown, and when the read is
 * repeated.
 * @param bytes all bytes that the read needs, also those that are reserved already
 * @throws RouterError, which ends the read
 */
export type ReserveBytes = (bytes: number) => void | Promise<void>;

/** The result of a search: what was found, an id that is not stored, or `too long` if a request may not use that much. */
export type SearchResult<T> = { found: T } | { missing: string } | 'too long';

/**
 * Stored responses, in Redis, sealed with a key of their owner. A response of another owner counts as unknown. If there is no room, the
 * oldest responses are removed. Every method throws `store_unavailable` while Redis is unavailable. The methods that read also throw
 * `overloaded`.
 */
export class StoredResponses {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #bounds: StoredResponsesBounds;
  readonly #keys: Pick<OwnerKeys, 'storeSealer'>;
  readonly #report: ReportUnreadable;
  readonly #ownerQueue = new OwnerQueue();

  /** @param prefix start of all names in Redis */
  constructor(
    redis: Redis,
    prefix: string,
    dependencies: { bounds: StoredResponsesBounds; keys: Pick<OwnerKeys, 'storeSealer'>; report: ReportUnreadable },
  ) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#bounds = dependencies.bounds;
    this.#keys = dependencies.keys;
    this.#report = dependencies.report;
  }

  /**
   * Stores a response, unless it is too large, has too many items, or its owner no longer exists. A large response is written and sealed in
   * pieces, so that other work of the event loop can run in between.
   * @param text the JSON text of the response object, if the caller has it
   */
  async store(owner: string, stored: StoredResponse, text?: Uint8Array): Promise<KeepOutcome> {
    const prepared = await this.prepare(owner, stored, text);
    if (!prepared) return 'too large';
    const { args, content, entry } = prepared;
    const outcome = await keepResponse.run(this.#redis, { args, texts: [content, entry] });
    if (outcome === -1) return 'no owner';
    return outcome === 1 ? 'kept' : 'too large';
  }

  /**
   * Prepares a response for the script that stores it. Returns undefined for a response with too many items.
   * @param text see `store`
   */
  async prepare(owner: string, stored: StoredResponse, text?: Uint8Array): Promise<StorableResponse | undefined> {
    const { id, previous } = stored;
    const items = [...listItemsById(stored).keys()];
    if (items.length > maxItems) return undefined;
    const content = await this.#keys.storeSealer(owner).sealBytes(await writePieces(stored, text));
    const { keepMs, ownerBytes, totalBytes } = this.#bounds;
    const args = { prefix: this.#prefix, owner, id, previous, maxLinks, keepMs, ownerBytes, totalBytes };
    return {
      args,
      content,
      entry: JSON.stringify({ bytes: content.length + items.length * itemBytes, previous, items }),
    };
  }

  async find(owner: string, id: string): Promise<StoredResponse | undefined> {
    if (!isId(id)) return undefined;
    const name = `${this.#prefix}stored-response:${owner}:${id}`;
    const content = await this.#ownerQueue.run(owner, () => callRedis(this.#redis.get(name)));
    return content === null ? undefined : this.#open(this.#keys.storeSealer(owner), content, `stored response ${id}`);
  }

  /**
   * Returns a response and the responses that it continues, oldest first.
   * @param reserve called if the responses are large
   */
  async readHistory(owner: string, id: string, reserve: ReserveBytes): Promise<SearchResult<StoredResponse[]>> {
    if (!isId(id)) return { missing: id };
    const reply = await this.#run(readChain, owner, { id, maxLinks }, reserve);
    if (reply.outcome !== 'found') return toFailure(reply);
    const sealer = this.#keys.storeSealer(owner);
    const opened = reply.rest.map((content) => this.#open(sealer, content, `stored response ${id}, or one before it`));
    const responses = opened.filter((response) => response !== undefined);
    // A response that cannot be opened breaks the history.
    return responses.length === opened.length ? { found: responses.toReversed() } : { missing: id };
  }

  /**
   * Returns stored items, of inputs or outputs, by their ids.
   * @param reserve called if the responses that contain the items are large
   */
  async readItems(
    owner: string,
    ids: readonly string[],
    reserve: ReserveBytes,
  ): Promise<SearchResult<Map<string, JsonObject>>> {
    if (ids.length > maxItems) return 'too long';
    const invalidId = ids.find((id) => !isId(id));
    if (invalidId !== undefined) return { missing: invalidId };
    const reply = await this.#run(findItems, owner, { items: ids }, reserve);
    if (reply.outcome !== 'found') return toFailure(reply);
    const [positions = '', ...contents] = reply.rest;
    const sealer = this.#keys.storeSealer(owner);
    const name = `stored response with one of the items ${ids.join(', ')}`;
    const itemsByResponse = contents.map((content) => listItemsById(this.#open(sealer, content, name)));
    const items = new Map<string, JsonObject>();
    for (const [index, position] of positions.split(',').entries()) {
      const id = ids[index] ?? '';
      const item = itemsByResponse[Number(position)]?.get(id);
      if (!item) return { missing: id };
      items.set(id, item);
    }
    return { found: items };
  }

  /**
   * Removes a response.
   * @returns whether the owner had such a response
   */
  async delete(owner: string, id: string): Promise<boolean> {
    return isId(id) && responseStore.remove(this.#redis, this.#prefix, owner, id);
  }

  /** Reads responses whose content is returned only once memory is reserved for it. */
  async #run(
    script: RedisScript,
    owner: string,
    scriptArgs: object,
    reserve: ReserveBytes,
  ): Promise<{ outcome: unknown; rest: string[] }> {
    const maxBytes = Math.ceil(this.#bounds.historyBytes * sealedFactor);
    let reservedBytes = unreservedBytes;
    const read = async (): Promise<{ outcome: unknown; rest: string[] }> => {
      const args = { prefix: this.#prefix, owner, maxBytes, reservedBytes, ...scriptArgs };
      const reply = await script.run(this.#redis, { args });
      const [outcome, ...rest] = Array.isArray(reply) ? reply.map(String) : [];
      return { outcome, rest };
    };
    return this.#ownerQueue.run(owner, async () => {
      let reply = await read();
      // The responses that contain an item may be others by the time of the next read.
      while (reply.outcome === 'large') {
        reservedBytes = Number(reply.rest[0]);
        await reserve(Math.floor(reservedBytes / sealedFactor));
        reply = await read();
      }
      return reply;
    });
  }

  /** @param name name of the response in a report that it cannot be unsealed */
  #open({ unseal }: Sealer, content: string, name: string): StoredResponse | undefined {
    const text = unseal(content);
    if (text === undefined) this.#report(name, 'it is sealed with a secret that is not set');
    return text === undefined ? undefined : (JSON.parse(text) as StoredResponse);
  }
}

/** Returns the JSON text of a stored response, in pieces. Lets other work of the event loop run after each large piece. */
async function writePieces(
  { id, previous, response, input }: StoredResponse,
  text: Uint8Array = Buffer.from(JSON.stringify(response)),
): Promise<Uint8Array[]> {
  const head = JSON.stringify({ id, previous });
  const pieces: Uint8Array[] = [Buffer.from(`${head.slice(0, -1)},"response":`), text];
  let written = ',"input":[';
  for (const [index, item] of input.entries()) {
    written += `${index === 0 ? '' : ','}${JSON.stringify(item)}`;
    if (written.length < pieceLength) continue;
    pieces.push(Buffer.from(written));
    written = '';
    await setImmediate();
  }
  return [...pieces, Buffer.from(`${written}]}`)];
}

/** Returns the items of a response's input and output, by their ids. */
function listItemsById(stored: StoredResponse | undefined): Map<string, JsonObject> {
  const output = stored?.response['output'];
  const items = [...(stored?.input ?? []), ...(Array.isArray(output) ? output : [])];
  return new Map(
    items.flatMap((item) => (isJsonObject(item) && isId(item['id']) ? [[item['id'], item] as const] : [])),
  );
}

function toFailure({ outcome, rest }: { outcome: unknown; rest: readonly string[] }): SearchResult<never> {
  return outcome === 'missing' ? { missing: rest[0] ?? '' } : 'too long';
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && idPattern.test(id);
}

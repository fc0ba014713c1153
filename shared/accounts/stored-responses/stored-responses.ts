import { setImmediate } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { Sealer } from '#shared/core/seal.ts';
import { callRedis, storeUnavailable } from '../redis/call-redis.ts';
import { RedisScript } from '../redis/redis-script.ts';
import type { ReportUnreadable } from '../redis/stored-records.ts';
import type { OwnerKeys } from '../secrets/owner-keys.ts';
import { OwnerQueue } from './owner-queue.ts';

const common = new URL('lua/stored.lua', import.meta.url);
const keepStored = new URL('lua/keep-stored.lua', import.meta.url);
const keepResponse = new RedisScript(common, keepStored, new URL('lua/keep.lua', import.meta.url));
const readChain = new RedisScript(common, new URL('lua/read-chain.lua', import.meta.url));
const findItems = new RedisScript(common, new URL('lua/find-items.lua', import.meta.url));
const sweepExpired = new RedisScript(common, new URL('lua/sweep.lua', import.meta.url));
const removeResponse = new RedisScript(common, new URL('lua/remove.lua', import.meta.url));

/** The scripts that define `keepStored`. They stand before each script that stores a response together with something else. */
export const keepStoredScripts: readonly URL[] = [common, keepStored];

/** Maximum of responses that one response continues, one after the other. */
const maxLinks = 1_000;

/** Maximum of items in one response, and of items to which one request refers. While Redis visits them, it serves nobody else. */
const maxItems = 10_000;

/** Bytes in Redis that make it possible to find an item by its id. */
const itemBytes = 256;

/** How much longer a sealed text is than its content, because base64 has four characters for three bytes. */
const sealedFactor = 4 / 3;

/** Characters of items after which the event loop gets a turn. Writing so many takes about a millisecond. */
const pieceLength = 256 * 1024;

/** The form of the ids that this router makes, and that clients may give items. Any other id counts as unknown. */
const idPattern = /^[\w-]{1,128}$/;

export interface StoredResponse {
  id: string;
  response: JsonObject;
  /** The items of the response's own input, each with an id, without the items of the responses that it continues. */
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

/** A response in the form for the script function `keepStored`. */
export interface StorableResponse {
  args: Readonly<Record<string, unknown>>;
  /** The sealed response. */
  content: string;
  /** The record of the response, as JSON. */
  entry: string;
}

export type KeepOutcome = 'kept' | 'too large' | 'no owner';

/** The result of a search: what was found, the id that is not stored, or `too long` if more was found than one request may use. */
export type SearchResult<T> = { found: T } | { missing: string } | 'too long';

/**
 * Responses that clients have had stored, in Redis, sealed with a key of their owner. A response of another owner counts as unknown. If
 * there is no room, the oldest responses are removed. Every method throws `store_unavailable`, and methods that read also `overloaded`.
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
    parts: { bounds: StoredResponsesBounds; keys: Pick<OwnerKeys, 'storeSealer'>; report: ReportUnreadable },
  ) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#bounds = parts.bounds;
    this.#keys = parts.keys;
    this.#report = parts.report;
  }

  /**
   * Stores a response, unless it is larger than all that may be stored, has too many items, or its owner no longer exists. A large response
   * is written and sealed in pieces, between which the event loop goes on.
   * @param text the JSON text of the response object, if it is known
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
   * Returns what a script needs to store a response; undefined for a response with too many items.
   * @param text see `store`
   */
  async prepare(owner: string, stored: StoredResponse, text?: Uint8Array): Promise<StorableResponse | undefined> {
    const { id, previous } = stored;
    const items = [...listItemsById(stored).keys()];
    if (items.length > maxItems) return undefined;
    const content = await this.#sealer(owner).sealBytes(await writePieces(stored, text));
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
    return content === null ? undefined : this.#open(this.#sealer(owner), content);
  }

  /** Returns a response and the responses that it continues, oldest first. */
  async readHistory(owner: string, id: string): Promise<SearchResult<StoredResponse[]>> {
    if (!isId(id)) return { missing: id };
    const reply = await this.#run(readChain, owner, { id, maxLinks });
    if (reply.outcome !== 'found') return toFailure(reply);
    const sealer = this.#sealer(owner);
    const opened = reply.rest.map((content) => this.#open(sealer, content));
    const responses = opened.filter((each) => each !== undefined);
    // A response that cannot be opened breaks the history.
    return responses.length === opened.length ? { found: responses.toReversed() } : { missing: id };
  }

  /** Returns stored items by their ids, of inputs and outputs alike. */
  async readItems(owner: string, ids: readonly string[]): Promise<SearchResult<Map<string, JsonObject>>> {
    if (ids.length > maxItems) return 'too long';
    const wrong = ids.find((id) => !isId(id));
    if (wrong !== undefined) return { missing: wrong };
    const reply = await this.#run(findItems, owner, { items: ids });
    if (reply.outcome !== 'found') return toFailure(reply);
    const [places = '', ...contents] = reply.rest;
    const sealer = this.#sealer(owner);
    const itemsOf = contents.map((content) => listItemsById(this.#open(sealer, content)));
    const items = new Map<string, JsonObject>();
    for (const [index, place] of places.split(',').entries()) {
      const id = ids[index] ?? '';
      const item = itemsOf[Number(place)]?.get(id);
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
    if (!isId(id)) return false;
    return (await removeResponse.run(this.#redis, { args: { prefix: this.#prefix, owner, id } })) === 1;
  }

  /**
   * Removes the records of some responses whose content has expired.
   * @returns how many records were removed; 0 if none is left
   */
  async sweep(): Promise<number> {
    return Number(await sweepExpired.run(this.#redis, { args: { prefix: this.#prefix } }));
  }

  async #run(script: RedisScript, owner: string, args: object): Promise<{ outcome: unknown; rest: string[] }> {
    const maxBytes = Math.ceil(this.#bounds.historyBytes * sealedFactor);
    const reply = await this.#ownerQueue.run(owner, () =>
      script.run(this.#redis, { args: { prefix: this.#prefix, owner, maxBytes, ...args } }),
    );
    const [outcome, ...rest] = Array.isArray(reply) ? reply.map(String) : [];
    return { outcome, rest };
  }

  #open({ unseal }: Sealer, content: string): StoredResponse | undefined {
    const text = unseal(content);
    if (text === undefined) this.#report('a stored response', 'it is sealed with a secret that is not set');
    return text === undefined ? undefined : (JSON.parse(text) as StoredResponse);
  }

  #sealer(owner: string): Sealer {
    const sealer = this.#keys.storeSealer(owner);
    if (!sealer) throw storeUnavailable('the secret of the cluster is not known yet');
    return sealer;
  }
}

/** Returns the JSON text of a stored response, in pieces. Lets the event loop run after each large piece. */
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

/** Returns the items of a response, of its input and of its output, by their ids. */
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

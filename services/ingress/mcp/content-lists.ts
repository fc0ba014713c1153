import { LRUCache } from 'lru-cache';
import type { JsonObject } from '#shared/core/json.ts';
import { countBytes, readEntries, type ContentEntries, type ContentList, type SizedEntry } from './content-entries.ts';

/** Milliseconds for which the list of a server is kept. */
const keptMs = 5_000;
/** Milliseconds for which a key does not repeat a failed request for a list. */
const failedMs = 1_000;
/** Maximum bytes of all lists that are kept. */
const keptBytes = 16 * 1024 * 1024;

type Entries<List extends ContentList> = readonly SizedEntry<ContentEntries[List]>[];

/**
 * Keeps the lists of the content of MCP servers for some seconds. Finding the server of a resource or a prompt needs the lists of all
 * servers. Without the kept lists, each request of a client would cause a request to every server. A server has the same lists for all
 * keys.
 */
export class ContentLists {
  readonly #kept = new LRUCache<string, readonly SizedEntry<unknown>[]>({
    maxSize: keptBytes,
    sizeCalculation: (entries) => countBytes(entries) + 1,
    ttl: keptMs,
  });
  readonly #running = new Map<string, Promise<Entries<ContentList>>>();
  readonly #failures = new LRUCache<string, { reason: unknown }>({ max: 10_000, ttl: failedMs });

  /**
   * Returns a list of a server. Concurrent requests of one key share one question to the server, but keys do not share questions, because
   * the limits of a key may refuse its question.
   * @param keyId the id of the key whose request needs the list
   * @param ask requests the list of the server; its answer does not depend on the client's connection
   * @throws what `ask` throws
   */
  async get<List extends ContentList>(
    server: string,
    list: List,
    keyId: string,
    ask: () => Promise<JsonObject>,
  ): Promise<Entries<List>> {
    const listKey = JSON.stringify([server, list]);
    // The key contains the list, so the entries have the type of this list.
    const kept = this.#kept.get(listKey) as Entries<List> | undefined;
    if (kept) return kept;
    const questionKey = JSON.stringify([server, list, keyId]);
    const failure = this.#failures.get(questionKey);
    if (failure) throw failure.reason;
    const running = this.#running.get(questionKey) as Promise<Entries<List>> | undefined;
    if (running) return running;
    const question = ask()
      .then((answer) => {
        const entries = readEntries(list, answer);
        this.#kept.set(listKey, entries);
        return entries;
      })
      .catch((reason: unknown) => {
        this.#failures.set(questionKey, { reason });
        throw reason;
      })
      .finally(() => this.#running.delete(questionKey));
    this.#running.set(questionKey, question);
    return question;
  }
}

import type { Response } from 'express';
import { contextOf } from '../http/request-context.ts';

/** Largest number of streams of one node on which clients wait for notices of changed tools. */
const maxPlaces = 1_024;

/**
 * Bounds the number of streams that have no end of their own. When all places are occupied, the oldest stream of the key with the most
 * streams is closed. Its client connects again, perhaps to another node. If the client has disappeared without closing its stream, its
 * place becomes free.
 */
export class ListeningPlaces {
  /** Streams by the id of their key, the oldest first. Contains only keys that have a stream. */
  readonly #streams = new Map<string, Set<Response>>();
  #count = 0;

  /** Gives a stream a place until it closes. Call it after `requireKey` only. */
  occupy(response: Response): void {
    const { id } = contextOf(response).identity;
    if (this.#count >= maxPlaces) this.#endOldest();
    const own = this.#streams.get(id);
    if (own) own.add(response);
    else this.#streams.set(id, new Set([response]));
    this.#count += 1;
    response.once('close', () => this.#remove(id, response));
  }

  endAll(): void {
    for (const own of this.#streams.values()) for (const response of own) response.destroy();
  }

  #endOldest(): void {
    let most: [string, Set<Response>] | undefined;
    for (const each of this.#streams) if (!most || each[1].size > most[1].size) most = each;
    if (!most) return;
    const [id, own] = most;
    const [oldest] = own;
    if (!oldest) return;
    this.#remove(id, oldest);
    oldest.destroy();
  }

  #remove(id: string, response: Response): void {
    const own = this.#streams.get(id);
    if (!own?.delete(response)) return;
    this.#count -= 1;
    if (own.size === 0) this.#streams.delete(id);
  }
}

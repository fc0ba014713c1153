import type { Response } from 'express';
import { identityOf } from '../http/require-key.ts';

/** Streams of one node on which clients wait for notices of changed tools. */
const maxPlaces = 1_024;

/**
 * The places of streams that have no end of their own. When all are taken, the key that has most of them loses its oldest one: its client
 * connects again, perhaps at another node, and clients that are gone without a word make room.
 */
export class ListeningPlaces {
  /** By key, of each that has any, the oldest first. */
  readonly #streams = new Map<string, Set<Response>>();
  #count = 0;

  /** Gives a stream a place until it closes. Call it behind `requireKey`. */
  take(response: Response): void {
    const { id } = identityOf(response);
    if (this.#count >= maxPlaces) this.#endOne();
    const own = this.#streams.get(id);
    if (own) own.add(response);
    else this.#streams.set(id, new Set([response]));
    this.#count += 1;
    response.once('close', () => this.#leave(id, response));
  }

  endAll(): void {
    for (const own of this.#streams.values()) for (const response of own) response.destroy();
  }

  #endOne(): void {
    let most: [string, Set<Response>] | undefined;
    for (const each of this.#streams) if (!most || each[1].size > most[1].size) most = each;
    if (!most) return;
    const [id, own] = most;
    const [oldest] = own;
    if (!oldest) return;
    this.#leave(id, oldest);
    oldest.destroy();
  }

  #leave(id: string, response: Response): void {
    const own = this.#streams.get(id);
    if (!own?.delete(response)) return;
    this.#count -= 1;
    if (own.size === 0) this.#streams.delete(id);
  }
}

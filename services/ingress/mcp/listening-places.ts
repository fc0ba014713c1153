import type { Response } from 'express';
import { getRequestContext } from '../http/request-context.ts';

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

  /** Gives a stream a place until it closes. Call it only after `requireKey`. */
  occupy(response: Response): void {
    const { id } = getRequestContext(response).identity;
    if (this.#count >= maxPlaces) this.#endOldest();
    const keyStreams = this.#streams.get(id);
    if (keyStreams) keyStreams.add(response);
    else this.#streams.set(id, new Set([response]));
    this.#count += 1;
    response.once('close', () => this.#remove(id, response));
  }

  endAll(): void {
    for (const keyStreams of this.#streams.values()) for (const response of keyStreams) response.destroy();
  }

  #endOldest(): void {
    let largest: [string, Set<Response>] | undefined;
    for (const each of this.#streams) if (!largest || each[1].size > largest[1].size) largest = each;
    if (!largest) return;
    const [id, keyStreams] = largest;
    const [oldest] = keyStreams;
    if (!oldest) return;
    this.#remove(id, oldest);
    oldest.destroy();
  }

  #remove(id: string, response: Response): void {
    const keyStreams = this.#streams.get(id);
    if (!keyStreams?.delete(response)) return;
    this.#count -= 1;
    if (keyStreams.size === 0) this.#streams.delete(id);
  }
}

import type { Response } from 'express';
import { startEvents } from '../http/refuse.ts';
import type { ListeningPlaces } from './listening-places.ts';

const toolsChanged = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });

/**
 * The streams on which clients of protocol revisions up to 2025-11-25 receive notices of changed tools (Model Context Protocol, "Listening
 * for Messages from the Server"). Clients of newer revisions subscribe to such notices with `subscriptions/listen`.
 */
export class NoticeStreams {
  readonly #open = new Set<Response>();
  readonly #places: Pick<ListeningPlaces, 'occupy'>;
  readonly #keepAliveMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param keepAliveMs milliseconds between two comments that keep open streams alive */
  constructor(places: Pick<ListeningPlaces, 'occupy'>, keepAliveMs: number) {
    this.#places = places;
    this.#keepAliveMs = keepAliveMs;
  }

  /** Begins a stream that stays open until its client leaves or `ListeningPlaces` ends it. After `close`, the stream ends at once. */
  open(response: Response): void {
    // The client may have left while its key was checked.
    if (response.destroyed) return;
    startEvents(response);
    // While the node stops, a new stream ends at once, so that its client connects to another node.
    if (this.#isClosed) response.end();
    else this.#begin(response);
  }

  #begin(response: Response): void {
    response.flushHeaders();
    this.#places.occupy(response);
    this.#open.add(response);
    response.once('close', () => this.#remove(response));
    this.#timer ??= setInterval(() => this.#write(':\n\n'), this.#keepAliveMs);
  }

  notifyToolsChanged(): void {
    this.#write(`event: message\ndata: ${toolsChanged}\n\n`);
  }

  /** Makes new streams end at once. `ListeningPlaces` ends the streams that are open. */
  close(): void {
    this.#isClosed = true;
  }

  /** Writes to all streams. Skips a client that does not read, because its unread output already contains the same notice. */
  #write(text: string): void {
    for (const response of this.#open) if (!response.writableNeedDrain) response.write(text);
  }

  #remove(response: Response): void {
    this.#open.delete(response);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

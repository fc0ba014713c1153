import type { Response } from 'express';

/** Largest number of streams per node; the SDK has the same bound for streams of the newest revision. */
const maxStreams = 1_024;

const toolsChanged = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });

/**
 * The streams on which clients of protocol revisions up to 2025-11-25 receive notices of changed tools (Model Context Protocol, "Listening
 * for Messages from the Server"). Clients of newer revisions subscribe to such notices with `subscriptions/listen`.
 */
export class NoticeStreams {
  readonly #open = new Set<Response>();
  readonly #keepAliveMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param keepAliveMs interval of the comments on open streams */
  constructor(keepAliveMs: number) {
    this.#keepAliveMs = keepAliveMs;
  }

  /** Starts a stream that ends when its client disconnects or `close` is called. @returns false when there are too many streams */
  open(response: Response): boolean {
    if (this.#open.size >= maxStreams) return false;
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    // The client connects again, and must then reach another node.
    if (this.#isClosed) response.end();
    else this.#begin(response);
    return true;
  }

  #begin(response: Response): void {
    response.flushHeaders();
    this.#open.add(response);
    response.once('close', () => this.#remove(response));
    this.#timer ??= setInterval(() => this.#write(':\n\n'), this.#keepAliveMs);
  }

  noteToolsChanged(): void {
    this.#write(`event: message\ndata: ${toolsChanged}\n\n`);
  }

  close(): void {
    this.#isClosed = true;
    for (const response of this.#open) response.destroy();
  }

  /** Writes to all streams. A client that does not read is skipped: its unread output already contains the same notice. */
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

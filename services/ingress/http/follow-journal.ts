import type { Response } from 'express';
import type { AnswerChanges } from '#shared/store/answer-journal/answer-changes.ts';
import type { JournalPage } from '#shared/store/answer-journal/answer-journal.ts';
import { createShuttingDownError } from '#shared/core/errors.ts';
import { waitForDrain } from '#shared/core/wait-for-drain.ts';
import { WakeSignal } from './wake-signal.ts';

/** A client waits this many milliseconds for an unavailable store once its answer has begun. They count from the last successful read. */
const maxUnavailableMs = 60_000;

export interface FollowedPage extends Pick<JournalPage, 'next' | 'entries'> {
  /** Whether the answer has ended, so that no events from `next` on will follow. */
  isOver: boolean;
}

/** An answer that a client follows, and how it is shown to the client. */
export interface FollowedAnswer<Page extends FollowedPage> {
  /** See `AnswerChanges.watch`. */
  id: string;
  /** Number of the event that the first read follows; -1 for the whole answer. */
  after: number;
  /** Milliseconds between two reads, in case the notice of a change is lost. */
  readIntervalMs: number;
  /** Reads the events after an event; undefined if there is no such answer. */
  read: (after: number) => Promise<Page | undefined>;
  /**
   * Sends the status and the headers.
   * @returns number of the last event that the client has, -1 if it has none; `later` if the answer has not begun yet; `none` if it never
   * will
   * @throws the error for a client that cannot follow the answer
   */
  begin: (page: Page | undefined) => number | 'later' | 'none';
  /** @throws the reason why no event can follow the last event that the client has */
  assertContinues: (page: Page | undefined, last: number) => asserts page is Page;
  /** Returns the part of an entry after the last event that the client has. */
  selectAfter: (entry: Page['entries'][number], last: number) => Uint8Array;
  /** Returns the text that keeps the connection alive; undefined if the answer may have none. */
  findKeepAlive: () => string | undefined;
  /**
   * Ends the answer to the client.
   * @throws the reason why the last event that the client has is not the end of the answer
   */
  end: (page: Page, last: number) => void;
  /** Ends an answer that has begun because of an error. */
  endWithError: (error: unknown, last: number) => void;
}

export interface FollowParts {
  changes: Pick<AnswerChanges, 'watch'>;
  /** Milliseconds without a byte after which the client of a stream gets a keep-alive. */
  keepAliveMs: number;
  /** Milliseconds without progress after which a client that does not read its answer is disconnected. */
  unreadMs: number;
  /** Aborts when this node stops following, so that clients continue at another node. */
  closing: AbortSignal;
}

/**
 * Sends an answer from the store until the answer is over or the client disconnects: first its stored part, then the events that are added.
 * @returns `none` if nothing was sent, because the answer never began
 * @throws the errors of `read` and `begin`, and RouterError `shutting_down`. Throws only if nothing was sent
 */
export async function followJournal<Page extends FollowedPage>(
  response: Response,
  answer: FollowedAnswer<Page>,
  { changes, keepAliveMs, unreadMs, closing }: FollowParts,
): Promise<'answered' | 'none'> {
  const clientGone = new AbortController();
  const onClose = (): void => clientGone.abort();
  response.on('close', onClose);
  if (response.destroyed) onClose();
  const wakeSignal = new WakeSignal(AbortSignal.any([clientGone.signal, closing]));
  const unwatch = changes.watch(answer.id, () => wakeSignal.notify());
  /** Number of the last event that the client has; undefined before the answer has begun. */
  let last: number | undefined;
  let [readAt, writtenAt] = [performance.now(), performance.now()];
  const read = async (): Promise<Page | undefined | typeof unavailable> => {
    try {
      const page = await answer.read(last ?? answer.after);
      readAt = performance.now();
      return page;
    } catch (error) {
      if (last === undefined || performance.now() - readAt > maxUnavailableMs) throw error;
      return unavailable;
    }
  };
  const send = async (page: Page, after: number): Promise<number> => {
    let sentLast = after;
    const sent = page.entries.map((entry) => {
      const events = answer.selectAfter(entry, sentLast);
      sentLast = Math.max(sentLast, entry.last);
      return events;
    });
    writtenAt = performance.now();
    if (!response.write(Buffer.concat(sent))) await waitForDrain(response, unreadMs);
    return sentLast;
  };
  try {
    while (!clientGone.signal.aborted) {
      const page = await read();
      if (clientGone.signal.aborted) break;
      if (last === undefined && page !== unavailable) {
        const begun = answer.begin(page);
        if (begun === 'none') return begun;
        if (begun !== 'later') last = begun;
      }
      let isWaiting = true;
      if (last !== undefined && page !== unavailable) {
        answer.assertContinues(page, last);
        isWaiting = page.entries.length === 0;
        if (!isWaiting) last = await send(page, last);
        // An answer that is over has its last events, unless an operator has removed the events by hand.
        if (page.isOver && (isWaiting || last >= page.next - 1)) {
          answer.end(page, last);
          break;
        }
      }
      if (closing.aborted) throw createShuttingDownError();
      if (!isWaiting) continue;
      await wakeSignal.wait(Math.min(answer.readIntervalMs, keepAliveMs));
      const keepAlive = performance.now() - writtenAt >= keepAliveMs ? answer.findKeepAlive() : undefined;
      if (keepAlive === undefined || last === undefined) continue;
      writtenAt = performance.now();
      response.write(keepAlive);
    }
  } catch (error) {
    if (last === undefined) throw error;
    answer.endWithError(error, last);
  } finally {
    unwatch();
    response.off('close', onClose);
  }
  return 'answered';
}

/** Result of a read that failed because the store is unavailable. */
const unavailable: unique symbol = Symbol('unavailable');

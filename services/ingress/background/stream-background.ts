import type { Response } from 'express';
import type { EventPage } from '#shared/accounts/background-responses/background-responses.ts';
import { RouterError } from '#shared/core/errors.ts';
import { waitForDrain } from '#shared/core/wait-for-drain.ts';
import type { BackgroundAnswers } from '#shared/formats/background-answers.ts';
import { WakeSignal } from '../http/wake-signal.ts';
import { startEvents } from '../http/refuse.ts';
import type { BackgroundParts } from './background-parts.ts';

/** Milliseconds between two reads of the events, in case the notice of a change is lost. */
const readIntervalMs = 2_000;

/** Milliseconds after the last successful read until a stream ends because the store is unavailable. */
const storeAwayMs = 60_000;

export interface StreamRequest {
  id: string;
  owner: string;
  /** Reads and writes the events in the client's format. */
  shape: BackgroundAnswers;
  /** Number of the event that the stream starts after; -1 for the whole stream. */
  after: number;
}

/** Errors with which a stream ends that cannot send the end of its answer. */
const streamErrors = {
  superseded: {
    code: 'response_begun_anew',
    message: 'The response was begun anew, because its runner was lost. Stream it again from the start.',
  },
  cancelled: { code: 'response_cancelled', message: 'The response was cancelled.' },
  gone: { code: 'response_events_gone', message: 'The events of this response are not kept. Retrieve it instead.' },
  removed: { code: 'response_removed', message: 'The response was removed.' },
  ahead: { code: 'no_such_event', message: 'The response is over, and ended before the event that was named.' },
  closing: { code: 'shutting_down', message: 'This node is being restarted. Stream the rest from another one.' },
  away: { code: 'store_unavailable', message: 'The account store does not answer. Stream the response again soon.' },
} as const;

/**
 * Streams the events of a background response until the response is over or the client disconnects: first the stored events, then new
 * ones.
 * @throws RouterError `not_found` for a response that was not made in the background; `response_begun_anew` if the events that the client
 * has seen belong to an earlier run; `invalid_value` if the client names an event after the end of the response; `invalid_request` if the
 * events of the response are not kept; `store_unavailable`
 */
export async function streamBackground(
  response: Response,
  wanted: StreamRequest,
  { responses, changes, keepAliveMs, unreadMs, closing }: Omit<BackgroundParts, 'jobs'>,
): Promise<void> {
  const { id, owner, shape, after } = wanted;
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const wakeSignal = new WakeSignal(AbortSignal.any([gone.signal, closing]));
  const unwatch = changes.watch(id, () => wakeSignal.notify());
  try {
    let read = await responses.read(owner, id, after);
    assertReadable(read, id, after);
    if (response.destroyed) return;
    startEvents(response);
    response.flushHeaders();
    let last = after;
    let [writtenAt, readAt] = [performance.now(), performance.now()];
    while (!gone.signal.aborted) {
      const reason = findStreamError(read, last);
      if (!read || reason) return void response.end(shape.brokenEvent(streamErrors[reason ?? 'removed'], last + 1));
      let events = '';
      for (const text of read.events) {
        // A writer that got no confirmation writes its events again. The repeated events are left out.
        const further = shape.eventsAfter(text, last);
        last = shape.lastNumber(further) ?? last;
        events += further;
      }
      if (events !== '') {
        writtenAt = performance.now();
        if (!response.write(events)) await waitForDrain(response, unreadMs);
      }
      if (read.isOver && last >= read.next - 1) {
        const end = read.isCancelled ? 'cancelled' : last >= read.next ? 'ahead' : undefined;
        return void (end ? response.end(shape.brokenEvent(streamErrors[end], last + 1)) : response.end());
      }
      // A response that is over has its last events, unless an operator has removed the events by hand.
      if (read.isOver && read.events.length === 0)
        return void response.end(shape.brokenEvent(streamErrors.gone, last + 1));
      if (closing.aborted) return void response.end(shape.brokenEvent(streamErrors.closing, last + 1));
      if (events === '') await wakeSignal.wait(Math.min(readIntervalMs, keepAliveMs));
      if (performance.now() - writtenAt >= keepAliveMs) {
        writtenAt = performance.now();
        response.write(': keep-alive\n\n');
      }
      const next = await responses.read(owner, id, last).catch((): typeof away => away);
      if (next !== away) [read, readAt] = [next, performance.now()];
      else if (performance.now() - readAt > storeAwayMs)
        return void response.end(shape.brokenEvent(streamErrors.away, last + 1));
      else read = { ...read, events: [], isOver: false };
    }
  } finally {
    unwatch();
  }
}

/** Result of a read that failed because the store is unavailable. */
const away: unique symbol = Symbol('away');

/** Returns why nothing can follow the event that the client has seen last; undefined if something can. */
function findStreamError(read: EventPage | undefined, last: number): keyof typeof streamErrors | undefined {
  if (!read) return 'removed';
  if (read.areGone) return 'gone';
  // Event numbers of a lost run are not used again.
  return read.opening > 0 && last >= read.opening && last < read.begun ? 'superseded' : undefined;
}

function assertReadable(read: EventPage | undefined, id: string, after: number): asserts read is EventPage {
  if (!read) throw new RouterError('not_found', `Response with id '${id}' not found.`);
  const reason = findStreamError(read, after);
  if (reason === 'superseded')
    throw new RouterError('response_begun_anew', streamErrors.superseded.message, { param: 'starting_after' });
  // A response that still runs may yet reach that event. The stream of a cancelled response ends with the event of its cancellation.
  if (!reason && read.isOver && !read.isCancelled && after >= read.next) {
    const message = `This response is over, and its last event has the number ${read.next - 1}.`;
    throw new RouterError('invalid_value', message, { param: 'starting_after' });
  }
  if (reason === 'gone') throw new RouterError('invalid_request', streamErrors.gone.message, { param: 'stream' });
}

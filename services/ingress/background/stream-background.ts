import type { Response } from 'express';
import type { EventPage, BackgroundResponses } from '#shared/accounts/background-responses/background-responses.ts';
import { RouterError } from '#shared/core/errors.ts';
import { waitForDrain } from '#shared/core/wait-for-drain.ts';
import type { BackgroundAnswers } from '#shared/formats/background-answers.ts';
import { WakeSignal } from '../http/wake-signal.ts';
import { startEvents } from '../http/refuse.ts';
import type { ResponseChanges } from '#shared/accounts/background-responses/response-changes.ts';
import type { FollowerPlaces } from '../http/follower-places.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';

export interface BackgroundParts {
  responses: BackgroundResponses;
  changes: Pick<ResponseChanges, 'watch'>;
  places: FollowerPlaces;
  jobs: Pick<BackgroundJobs, 'add' | 'remove'>;
  /** Milliseconds without a byte after which a stream gets a keep-alive comment. */
  keepAliveMs: number;
  /** Milliseconds without progress after which a client that does not read its stream is disconnected. */
  unreadMs: number;
  /** Aborts when this node stops, so that clients continue their streams at another node. */
  closing: AbortSignal;
}

/** Milliseconds between two reads of the events, in case the notice of a change is lost. */
const readIntervalMs = 2_000;

/** A stream ends with `store_unavailable` after this many milliseconds without a successful read. */
const maxUnavailableMs = 60_000;

export interface StreamRequest {
  id: string;
  owner: string;
  /** Reads and writes the events in the client's format. */
  backgroundFormat: BackgroundAnswers;
  /** Number of the event that the stream starts after; -1 for the whole stream. */
  after: number;
}

/** Errors that end a stream in place of the last event of its response. */
const streamErrors = {
  superseded: {
    code: 'response_begun_anew',
    message: 'The response was begun anew, because its runner was lost. Stream it again from the start.',
  },
  cancelled: { code: 'response_cancelled', message: 'The response was cancelled.' },
  gone: { code: 'response_events_gone', message: 'The events of this response are not kept. Retrieve it instead.' },
  removed: { code: 'response_removed', message: 'The response was removed.' },
  ahead: { code: 'no_such_event', message: 'The response ended before the event that you named.' },
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
  streamRequest: StreamRequest,
  { responses, changes, keepAliveMs, unreadMs, closing }: Omit<BackgroundParts, 'jobs'>,
): Promise<void> {
  const { id, owner, backgroundFormat, after } = streamRequest;
  const clientGone = new AbortController();
  response.on('close', () => clientGone.abort());
  const wakeSignal = new WakeSignal(AbortSignal.any([clientGone.signal, closing]));
  const unwatch = changes.watch(id, () => wakeSignal.notify());
  try {
    let page = await responses.read(owner, id, after);
    assertReadable(page, id, after);
    if (response.destroyed) return;
    startEvents(response);
    response.flushHeaders();
    let last = after;
    let [writtenAt, readAt] = [performance.now(), performance.now()];
    while (!clientGone.signal.aborted) {
      const reason = findStreamError(page, last);
      if (!page || reason)
        return void response.end(backgroundFormat.writeBrokenEvent(streamErrors[reason ?? 'removed'], last + 1));
      let events = '';
      for (const text of page.events) {
        // The store may contain events twice, because a writer repeats a write that was not confirmed.
        const newEvents = backgroundFormat.selectEventsAfter(text, last);
        last = backgroundFormat.findLastNumber(newEvents) ?? last;
        events += newEvents;
      }
      if (events !== '') {
        writtenAt = performance.now();
        if (!response.write(events)) await waitForDrain(response, unreadMs);
      }
      if (page.isOver && last >= page.next - 1) {
        const end = page.isCancelled ? 'cancelled' : last >= page.next ? 'ahead' : undefined;
        return void (end
          ? response.end(backgroundFormat.writeBrokenEvent(streamErrors[end], last + 1))
          : response.end());
      }
      // A response that is over has its last events, unless an operator has removed the events by hand.
      if (page.isOver && page.events.length === 0)
        return void response.end(backgroundFormat.writeBrokenEvent(streamErrors.gone, last + 1));
      if (closing.aborted) return void response.end(backgroundFormat.writeBrokenEvent(streamErrors.closing, last + 1));
      if (events === '') await wakeSignal.wait(Math.min(readIntervalMs, keepAliveMs));
      if (performance.now() - writtenAt >= keepAliveMs) {
        writtenAt = performance.now();
        response.write(': keep-alive\n\n');
      }
      const nextPage = await responses.read(owner, id, last).catch((): typeof unavailable => unavailable);
      if (nextPage !== unavailable) [page, readAt] = [nextPage, performance.now()];
      else if (performance.now() - readAt > maxUnavailableMs)
        return void response.end(backgroundFormat.writeBrokenEvent(streamErrors.away, last + 1));
      else page = { ...page, events: [], isOver: false };
    }
  } finally {
    unwatch();
  }
}

/** Result of a read that failed because the store is unavailable. */
const unavailable: unique symbol = Symbol('unavailable');

/** Returns the reason why no event can follow the last event that the client has seen; undefined if an event can follow. */
function findStreamError(page: EventPage | undefined, last: number): keyof typeof streamErrors | undefined {
  if (!page) return 'removed';
  if (page.areGone) return 'gone';
  // Event numbers of a lost run are not used again.
  return page.opening > 0 && last >= page.opening && last < page.begun ? 'superseded' : undefined;
}

function assertReadable(page: EventPage | undefined, id: string, after: number): asserts page is EventPage {
  if (!page) throw new RouterError('not_found', `Response with id '${id}' not found.`);
  const reason = findStreamError(page, after);
  if (reason === 'superseded')
    throw new RouterError('response_begun_anew', streamErrors.superseded.message, { param: 'starting_after' });
  // A response that still runs may reach that event later. The stream of a cancelled response ends with the event of its cancellation.
  if (!reason && page.isOver && !page.isCancelled && after >= page.next) {
    const message = `This response is over, and its last event has the number ${page.next - 1}.`;
    throw new RouterError('invalid_value', message, { param: 'starting_after' });
  }
  if (reason === 'gone') throw new RouterError('invalid_request', streamErrors.gone.message, { param: 'stream' });
}

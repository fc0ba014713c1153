import type { Response } from 'express';
import type { EventPage, BackgroundResponses } from '#shared/accounts/responses/background/background-responses.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { BackgroundAnswers } from '#shared/formats/background-answers.ts';
import { followJournal, type FollowedAnswer, type FollowParts } from '../http/follow-journal.ts';
import { startEvents } from '../http/refuse.ts';
import type { FollowerPlaces } from '../http/follower-places.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';

export interface BackgroundParts extends FollowParts {
  responses: BackgroundResponses;
  places: FollowerPlaces;
  jobs: Pick<BackgroundJobs, 'add' | 'remove'>;
}

/** Milliseconds between two reads of the events, in case the notice of a change is lost. */
const readIntervalMs = 2_000;

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

type StreamErrorReason = keyof typeof streamErrors;

/** Thrown to end a stream that has begun with one of the `streamErrors`. */
class StreamEndError extends Error {
  readonly reason: StreamErrorReason;

  constructor(reason: StreamErrorReason) {
    super(streamErrors[reason].message);
    this.reason = reason;
  }
}

/**
 * Streams the events of a background response until the response is over or the client disconnects: first the stored events, then new
 * ones.
 * @throws RouterError `not_found` for a response that was not made in the background; `response_begun_anew` if the events that the client
 * has seen belong to an earlier run; `invalid_value` if the client names an event after the end of the response; `invalid_request` if the
 * events of the response are not kept; `store_unavailable`
 */
export async function streamBackground(
  response: Response,
  { id, owner, backgroundFormat, after }: StreamRequest,
  { responses, ...parts }: Omit<BackgroundParts, 'jobs'>,
): Promise<void> {
  const followed: FollowedAnswer<EventPage> = {
    id,
    after,
    readIntervalMs,
    read: (last) => responses.read(owner, id, last),
    begin: (page) => {
      assertReadable(page, id, after);
      startEvents(response);
      response.flushHeaders();
      return after;
    },
    assertContinues: (page, last): asserts page => {
      const reason = findStreamError(page, last);
      if (reason) throw new StreamEndError(reason);
    },
    // The store may contain events twice, because a writer repeats a write that was not confirmed.
    selectAfter: ({ bytes }, last) => Buffer.from(backgroundFormat.selectEventsAfter(bytes.toString(), last)),
    findKeepAlive: () => ': keep-alive\n\n',
    end: ({ isCancelled, next }, last) => {
      if (last < next - 1) throw new StreamEndError('gone');
      if (isCancelled) throw new StreamEndError('cancelled');
      if (last >= next) throw new StreamEndError('ahead');
      response.end();
    },
    endWithError: (error, last) =>
      void response.end(backgroundFormat.writeBrokenEvent(streamErrors[findReason(error)], last + 1)),
  };
  await followJournal(response, followed, parts);
}

/** Returns the reason for which an error ends a stream. @throws any other error */
function findReason(error: unknown): StreamErrorReason {
  if (error instanceof StreamEndError) return error.reason;
  if (error instanceof RouterError && error.code === 'shutting_down') return 'closing';
  if (error instanceof RouterError && error.code === 'store_unavailable') return 'away';
  throw error;
}

/** Returns the reason why no event can follow the last event that the client has seen; undefined if an event can follow. */
function findStreamError(page: EventPage | undefined, last: number): StreamErrorReason | undefined {
  if (!page) return 'removed';
  if (page.isLost) return 'gone';
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

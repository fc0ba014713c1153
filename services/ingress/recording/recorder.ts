import type { Request, Response } from 'express';
import { computeSessionId, toSessionOwner } from '#shared/accounts/ledger/agent-sessions/session-names.ts';
import { findStoreOwner } from '#shared/accounts/keys/key-record.ts';
import type { RecordingFields } from '#shared/accounts/recordings/recording.ts';
import type { Recordings } from '#shared/accounts/recordings/recordings.ts';
import type { AgentTurn } from '#shared/core/agent-turn.ts';
import type { Logger } from '#shared/core/log.ts';
import { StoreQueueBudget } from '#shared/serving/stored/store-queue-budget.ts';
import { getRequestContext } from '../http/request-context.ts';
import { holdTrace } from '../http/trace-request.ts';
import { BoundedCopy } from './bounded-copy.ts';
import { LostRecordings, type RecordingOutcome } from './lost-recordings.ts';
import type { RecordedTraces } from './recorded-traces.ts';
import { watchWritten } from './watch-written.ts';

/**
 * Number of characters after which a model's name is cut off, because clients choose names of any length, and lists read many recordings at
 * once.
 */
const maxModelLength = 256;

/** Milliseconds for which a process that is about to exit waits until recordings are written. */
const lastWritesMs = 2_000;

export interface RecorderParts {
  recordings: Pick<Recordings, 'store'>;
  /** Largest number of bytes that are recorded of each body, and of each answer. */
  bytes: number;
  /** Largest total of bytes of recordings that are not written yet. Those of one owner have half of what those of others leave. */
  roomBytes: number;
  count: (outcome: RecordingOutcome) => void;
  /** Undefined if the messages of requests must not be in traces. */
  traces?: RecordedTraces | undefined;
  log: Pick<Logger, 'warn'>;
}

/** A request that is being recorded. The handler fills in these fields while it serves the request. */
export interface RunningRecording {
  model?: string;
  turn?: AgentTurn | undefined;
}

/**
 * Records requests. Copies the body and the answer in memory, up to a bound, while the request is served, and writes the copies when the
 * response is over. The request never waits for the recorder.
 */
export class Recorder {
  readonly #parts: RecorderParts;
  readonly #room: StoreQueueBudget;
  readonly #lost: LostRecordings;
  readonly #writes = new Set<Promise<void>>();

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#room = new StoreQueueBudget(parts.roomBytes);
    this.#lost = new LostRecordings(parts.log);
  }

  get heldBytes(): number {
    return this.#room.taken;
  }

  /**
   * Starts recording a request, and sets the header `x-rtr-recorded` of its response.
   * @param body the body as it was received
   */
  begin(request: Request, response: Response, format: string, body: Uint8Array): RunningRecording {
    const { recordings, bytes, count, traces } = this.#parts;
    const running: RunningRecording = {};
    const begunAt = Date.now();
    const endpoint = `${request.method} ${request.originalUrl.replace(/\?.*$/s, '')}`;
    const storeOwner = findStoreOwner(getRequestContext(response).identity);
    const share = this.#room.openShare(storeOwner);
    const [requestCopy, answerCopy] = [new BoundedCopy(bytes, share), new BoundedCopy(bytes, share)];
    requestCopy.add(body);
    let isEnded = false;
    watchWritten(
      response,
      (piece) => answerCopy.add(piece),
      () => (isEnded = true),
    );
    const isTraced = traces?.maySend(response, format) === true;
    if (!response.headersSent) response.setHeader('x-rtr-recorded', isTraced ? 'true; traces' : 'true');
    response.once('close', () => {
      const { id: key, name, kind, ownerId } = getRequestContext(response).identity;
      const { model, turn } = running;
      const owner = ownerId === undefined || kind === 'router' ? undefined : { kind, id: ownerId };
      const party = toSessionOwner({
        key,
        user: owner?.kind === 'user' ? owner.id : '',
        team: owner?.kind === 'team' ? owner.id : '',
      });
      const contentType = response.getHeader('content-type');
      const facts: RecordingFields = {
        id: getRequestContext(response).requestId,
        at: begunAt,
        endedAt: Date.now(),
        endpoint,
        format,
        ...(model !== undefined && { model: model.slice(0, maxModelLength) }),
        key: { id: key, name },
        ...(owner && { owner }),
        ...(turn && { session: computeSessionId(party, turn.session) }),
        ...(response.headersSent && { status: response.statusCode }),
        ...(contentType !== undefined && { contentType: String(contentType) }),
        end: isEnded ? 'whole' : 'cut',
        requestBytes: requestCopy.bytes,
        answerBytes: answerCopy.bytes,
        isRequestCut: requestCopy.isCut,
        isAnswerCut: answerCopy.isCut,
      };
      // The pieces are joined, because sealing needs some microseconds per piece, and a stream has hundreds of pieces.
      const content = { request: requestCopy.join(), answer: answerCopy.join() };
      const write = recordings
        .store(storeOwner, facts, content.request, content.answer)
        .catch((error: unknown): RecordingOutcome => {
          this.#lost.add(error);
          return 'lost';
        })
        .then((outcome) => {
          count(outcome);
          traces?.add(response, { ...facts, ...content }, outcome);
        })
        .finally(() => {
          requestCopy.release();
          answerCopy.release();
          this.#writes.delete(write);
        });
      this.#writes.add(write);
      if (isTraced) holdTrace(response, write);
    });
    return running;
  }

  /** Waits until all recordings are written, but at most two seconds. */
  async close(): Promise<void> {
    const timeout = AbortSignal.timeout(lastWritesMs);
    const timedOut = new Promise<void>((resolve) => timeout.addEventListener('abort', () => resolve()));
    await Promise.race([Promise.all(this.#writes), timedOut]);
    this.#lost.close();
  }
}

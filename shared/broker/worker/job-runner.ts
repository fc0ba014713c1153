import type { Msg } from '@nats-io/transport-node';
import { setImmediate } from 'node:timers/promises';
import { type ErrorCode, RouterError, toRouterError } from '#shared/core/errors.ts';
import { ShortLivedMap } from '../short-lived-map.ts';
import { attributeNames as names } from '#shared/core/tracing/attribute-names.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import { copyRequestFields, type Grant } from '../contract/claim.ts';
import { noRespondersCode, type Broker } from '../connection/connect-broker.ts';
import { encodeError } from '../contract/frame.ts';
import type { GrantedJob } from '../contract/job-contract.ts';
import { parseGrantToken, parseDispatcherName } from '../contract/subjects.ts';
import { FinishedReplies } from './finished-replies.ts';
import { recoveryMs, type DispatcherContact } from './dispatcher-contact.ts';
import type { DispatcherContacts } from './dispatcher-contacts.ts';
import { ReplyWriter } from './reply-writer.ts';
import type { MeteredJob } from './worker-meter.ts';
import type { WorkerState } from './worker-state.ts';

/** Milliseconds without a frame after which a running job sends a keep-alive. */
const quietMs = 2_500;

/**
 * The limit that replaces `quietMs` shortly after a reconnect. At that time, only the next frame or keep-alive shows the dispatcher that
 * earlier frames are missing.
 */
const quietAfterReconnectMs = 400;

/**
 * Milliseconds between the keep-alives of a job that sends frames all the time. The dispatcher answers a keep-alive if no client waits any
 * more.
 */
const keepAliveIntervalMs = 5_000;

/** Milliseconds for which jobs continue while the broker or their dispatcher is out of reach. Their frames are kept during that time. */
const defaultOutOfReachMs = 60_000;

interface RunningJob {
  controller: AbortController;
  writer: ReplyWriter;
  contact: DispatcherContact;
  /** Whether no sweep has checked the job yet. */
  isNew: boolean;
}

/** Runs the jobs that were granted or offered to a worker: passes each job to the handler, and sends the answer to the job's dispatcher. */
export class JobRunner {
  readonly #state: WorkerState;
  readonly #broker: Broker;
  readonly #contacts: DispatcherContacts;
  readonly #onFreed: () => void;
  /** The running jobs by grant. */
  readonly #running = new ShortLivedMap<RunningJob>();
  readonly #finished = new FinishedReplies();

  /** @param onFreed called when a job has ended and its slot is free */
  constructor(state: WorkerState, contacts: DispatcherContacts, onFreed: () => void) {
    this.#state = state;
    this.#broker = state.broker;
    this.#contacts = contacts;
    this.#onFreed = onFreed;
  }

  /**
   * Runs a job. `onFreed` is called when the job has ended.
   * @param heldBytes bytes of the memory for bodies that are taken for the job. They are released when the job has ended
   * @param isOffered whether the job was offered. The dispatcher then does not know yet that the worker has accepted the job. A keep-alive
   * tells it before the handler is called, because the handler may kill this process
   */
  run(grant: Grant, body: Buffer, { heldBytes, isOffered }: { heldBytes: number; isOffered: boolean }): void {
    const { requestId, operation, format, stream, model, reply } = grant;
    const id = parseGrantToken(reply);
    const controller = new AbortController();
    const state = this.#state;
    const { inbox, log, options } = state;
    const { handler, meter } = options;
    const contact = this.#contacts.getOrCreate(parseDispatcherName(reply));
    const writer = new ReplyWriter(state, reply, `${inbox}.alive.${id}`, stream, contact);
    this.#running.set(id, { controller, writer, contact, isNew: true });
    state.takeSlot();
    if (isOffered) writer.sendKeepAlive();
    // By the next turn of the event loop, the operating system has the messages that this turn has published.
    const confirmation = isOffered ? setImmediate() : undefined;
    const trace = this.#beginTrace(grant);
    const job = { id: grant.job, trace, model, ...copyRequestFields(grant), ...splitBody(grant, body) };
    const startedAt = performance.now();
    const logFields = { requestId, traceId: trace?.traceId, model, operation, format, stream };
    const recordEnd = (outcome: MeteredJob['outcome'], code?: ErrorCode): void => {
      meter.countJob({ format, operation, model, outcome, code, ms: performance.now() - startedAt });
      if (outcome !== 'done') trace?.fail(code ?? outcome);
      trace?.end();
    };
    const serve = async (): Promise<void> => {
      try {
        if (confirmation) await confirmation;
        controller.signal.throwIfAborted();
        const end = await handler(job, writer, controller.signal);
        writer.end(end);
        this.#finished.add(id, writer);
        recordEnd('done');
        log.info({ ...logFields, ms: computeElapsedMs(startedAt), usage: end.usage }, 'job done');
      } catch (error) {
        if (controller.signal.aborted && controller.signal.reason === cancelReason) {
          writer.close();
          writer.dropAll();
          recordEnd('cancelled');
          log.info({ ...logFields, ms: computeElapsedMs(startedAt) }, 'job cancelled');
          return;
        }
        const routerError = toRouterError(
          controller.signal.aborted ? controller.signal.reason : error,
          'The worker failed.',
        );
        recordEnd('failed', routerError.code);
        log.warn({ ...logFields, ms: computeElapsedMs(startedAt), code: routerError.code, err: error }, 'job failed');
        writer.fail(routerError);
        this.#finished.add(id, writer);
      } finally {
        this.#running.delete(id);
        state.freeSlot();
        state.bodies.release(heldBytes);
        this.#onFreed();
      }
    };
    serve().catch((error: unknown) => log.error({ err: error, requestId }, 'ending a job failed'));
  }

  #beginTrace({ job, trace, operation, requestId }: Grant): TraceSpan | undefined {
    const { tracing, tier } = this.#state.options;
    return tracing?.begin(`process jobs.${tier}`, 'consumer', trace, {
      attributes: {
        [names.messagingSystem]: 'nats',
        [names.messagingOperation]: 'process',
        [names.messagingOperationType]: 'process',
        [names.messageId]: job,
        'rtr.request_id': requestId,
        'rtr.operation': operation,
      },
    });
  }

  /**
   * Cancels the job of a grant, because its client has left.
   * @returns false if no such job is running
   */
  cancel(grant: string): boolean {
    const job = this.#running.get(grant);
    job?.controller.abort(cancelReason);
    return job !== undefined;
  }

  /** Ends all running jobs with an error. */
  endAll(error: RouterError): void {
    for (const { controller } of this.#running.values()) controller.abort(error);
  }

  /**
   * Sends the frames of an answer again, from the number `from` on. If one of them is not kept any more, the job ends and its dispatcher
   * gets the error `worker_lost`.
   * @param reply the reply subject of the grant
   */
  retransmit(reply: string, from: number): void {
    const id = parseGrantToken(reply);
    const running = this.#running.get(id);
    const writer = running?.writer ?? this.#finished.get(id);
    if (writer?.retransmit(from)) return;
    running?.controller.abort(cancelReason);
    const error = new RouterError('worker_lost', 'A part of the answer was lost on its way.');
    this.#broker.publish(`${reply}.x.${from}`, encodeError(error, { startedAt: this.#state.startedAt }));
  }

  /**
   * Handles the answer to a keep-alive. A dispatcher that answers does not wait for the job any more, so the job is cancelled. If the
   * dispatcher is not subscribed, the broker answers instead. The dispatcher may then have been killed or have lost its connection, so the
   * job continues for `outOfReachMs`.
   */
  onAliveAnswer(grant: string, { headers }: Msg): void {
    const job = this.#running.get(grant);
    if (headers?.code === noRespondersCode) job?.contact.recordAbsent();
    else job?.controller.abort(cancelReason);
  }

  /** Sends the keep-alives that are due, and ends jobs if the broker or their dispatcher stays out of reach. Call it twice a second. */
  sweep(now: number): void {
    const { disconnectedSince, connectedSince } = this.#broker;
    const { outOfReachMs = defaultOutOfReachMs } = this.#state.options;
    if (disconnectedSince !== undefined) {
      if (now - disconnectedSince > outOfReachMs)
        for (const { controller } of this.#running.values()) controller.abort(cancelReason);
      return;
    }
    const isJustReconnected = now - connectedSince < recoveryMs;
    const maxQuietMs = isJustReconnected ? quietAfterReconnectMs : quietMs;
    for (const job of this.#running.values()) {
      if (now - (job.contact.lostSince ?? now) > outOfReachMs) job.controller.abort(cancelReason);
      const { sinceFrameMs, sinceKeepAliveMs } = job.writer.computeSilence(now);
      // If the job was offered, the dispatcher may not know yet that the worker has accepted it.
      const isUnconfirmed = job.isNew && !job.writer.hasSent;
      job.isNew = false;
      if (isUnconfirmed || sinceFrameMs > maxQuietMs || sinceKeepAliveMs > keepAliveIntervalMs)
        job.writer.sendKeepAlive();
      if (!isJustReconnected) job.writer.dropConfirmed(now);
    }
    // After a reconnect, a keep-alive shows the dispatcher that it misses the end of an answer. The ends of later answers are kept for
    // dispatchers that were out of reach for longer and then request them.
    if (isJustReconnected) for (const writer of this.#finished.findEndedBefore(connectedSince)) writer.sendKeepAlive();
    else this.#finished.dropOld(now);
  }
}

/**
 * Splits a granted body into the request's body and, if an answer is to be continued, the part of the answer that the client already has.
 */
function splitBody({ relayedBytes }: Grant, body: Buffer): Pick<GrantedJob, 'body' | 'relayed'> {
  if (relayedBytes === undefined) return { body };
  const end = Math.max(0, body.length - relayedBytes);
  return { body: body.subarray(0, end), relayed: body.subarray(end) };
}

/** The abort reason of a job that ends without an error for its dispatcher. */
const cancelReason = new Error('cancelled');

function computeElapsedMs(since: number): number {
  return Math.round(performance.now() - since);
}

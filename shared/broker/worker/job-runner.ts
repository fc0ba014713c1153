import type { Msg } from '@nats-io/transport-node';
import { setImmediate } from 'node:timers/promises';
import { RouterError, type ErrorCode } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { ShortLivedMap } from '../short-lived-map.ts';
import type { Tier } from '#shared/core/tier.ts';
import { attributeNames as names } from '#shared/core/tracing/attribute-names.ts';
import type { TraceSpan, Tracing } from '#shared/core/tracing/tracing.ts';
import type { Grant } from '../contract/claim.ts';
import { noResponders, type Broker } from '../connection/connect-broker.ts';
import { encodeError } from '../contract/frame.ts';
import type { GrantedJob, JobHandler } from '../contract/job-contract.ts';
import { parseGrant, parseDispatcher } from '../contract/subjects.ts';
import type { MemoryBudget } from '#shared/core/memory-budget.ts';
import { FinishedReplies } from './finished-replies.ts';
import type { FrameMemory } from './frame-memory.ts';
import { recoveryMs, type DispatcherContact } from './dispatcher-contact.ts';
import type { DispatcherContacts } from './dispatcher-contacts.ts';
import { ReplyWriter } from './reply-writer.ts';
import type { MeteredJob, WorkerMeter } from './worker-meter.ts';

/** Milliseconds without a frame after which a running job sends a keep-alive. */
const quietMs = 2_500;

/** The same limit shortly after a reconnect, when only the next frame shows that earlier frames are missing. */
const youngQuietMs = 400;

/** Milliseconds between the keep-alives of a job that sends frames all the time. The dispatcher answers a keep-alive if no client waits. */
const probeMs = 5_000;

interface Running {
  controller: AbortController;
  writer: ReplyWriter;
  contact: DispatcherContact;
  isNew: boolean;
}

export interface JobRunnerOptions {
  broker: Broker;
  log: Logger;
  handler: JobHandler;
  coalesceMs: number;
  meter: WorkerMeter;
  tracing: Tracing | undefined;
  tier: Tier;
  /** When this worker started, in milliseconds since 1970. */
  startedAt: number;
  /** The subject prefix of the worker's own inbox for answers to keep-alives. */
  inbox: string;
  memory: FrameMemory;
  /** The memory budget from which the bodies of jobs are reserved. */
  bodies: MemoryBudget;
  contacts: DispatcherContacts;
  /** Milliseconds that jobs go on while the broker or their dispatcher is out of reach. Their frames are kept meanwhile. */
  outOfReachMs: number;
  /** Called when a job has ended and its slot is free. */
  onFreed: () => void;
}

/** Runs the jobs that were granted to a worker. Passes them to the handler, and their answers to their dispatchers. */
export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #broker: Broker;
  /** The running jobs by grant. */
  readonly #running = new ShortLivedMap<Running>();
  readonly #finished = new FinishedReplies();

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    this.#broker = options.broker;
  }

  get size(): number {
    return this.#running.size;
  }

  /**
   * Runs a job. `onFreed` is called when the job has ended.
   * @param isOffered whether the job was offered, so that the dispatcher does not know yet that the worker has taken it. A keep-alive
   * confirms it before the handler is called, because the handler may kill this process
   */
  run(grant: Grant, body: Buffer, isOffered = false): void {
    const { requestId, operation, format, stream, model, headers, answerId, ownerKey, connection, unread, reply } =
      grant;
    const id = parseGrant(reply);
    const controller = new AbortController();
    const { handler, coalesceMs, meter, inbox, log, memory, bodies, contacts, onFreed } = this.#options;
    const contact = contacts.at(parseDispatcher(reply));
    const writer = new ReplyWriter(this.#broker, {
      subject: reply,
      aliveInbox: `${inbox}.${id}`,
      stream,
      coalesceMs,
      memory,
      contact,
    });
    this.#running.set(id, { controller, writer, contact, isNew: true });
    if (isOffered) writer.probe();
    // By the next turn of the event loop, messages published in this turn are with the operating system.
    const confirmed = isOffered ? setImmediate() : undefined;
    const trace = this.#traceOf(grant);
    const request = { requestId, operation, format, stream, model, headers, answerId, ownerKey, connection, unread };
    const job = { id: grant.job, trace, ...request, ...splitBody(grant, body) };
    const startedAt = performance.now();
    const facts = { requestId, traceId: trace?.traceId, model, operation, format, stream };
    const count = (outcome: MeteredJob['outcome'], code?: ErrorCode): void => {
      meter.countJob({ format, operation, model, outcome, code, ms: performance.now() - startedAt });
      if (outcome !== 'done') trace?.fail(code ?? outcome);
      trace?.end();
    };
    const serve = async (): Promise<void> => {
      try {
        if (confirmed) await confirmed;
        controller.signal.throwIfAborted();
        const end = await handler(job, writer, controller.signal);
        writer.end(end);
        this.#finished.add(id, writer);
        count('done');
        log.info({ ...facts, ms: elapsedMs(startedAt), usage: end.usage }, 'job done');
      } catch (error) {
        if (controller.signal.aborted && controller.signal.reason === cancelled) {
          writer.close();
          writer.dropAll();
          count('cancelled');
          log.info({ ...facts, ms: elapsedMs(startedAt) }, 'job cancelled');
          return;
        }
        const reported = asRouterError(controller.signal.aborted ? controller.signal.reason : error);
        count('failed', reported.code);
        log.warn({ ...facts, ms: elapsedMs(startedAt), code: reported.code, err: error }, 'job failed');
        writer.fail(reported);
        this.#finished.add(id, writer);
      } finally {
        this.#running.delete(id);
        bodies.release(grant.bodyBytes);
        onFreed();
      }
    };
    serve().catch((error: unknown) => log.error({ err: error, requestId }, 'ending a job failed'));
  }

  #traceOf({ job, trace, operation, requestId }: Grant): TraceSpan | undefined {
    const { tracing, tier } = this.#options;
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
   * Cancels a job whose client has left.
   * @returns false if there is no such job
   */
  cancel(grant: string): boolean {
    const job = this.#running.get(grant);
    job?.controller.abort(cancelled);
    return job !== undefined;
  }

  endAll(error: RouterError): void {
    for (const { controller } of this.#running.values()) controller.abort(error);
  }

  /**
   * Sends the frames of a grant again, from a number on. If they are not kept any more, the job ends and its dispatcher gets
   * `worker_lost`.
   */
  retransmit(reply: string, from: number): void {
    const id = parseGrant(reply);
    const running = this.#running.get(id);
    const writer = running?.writer ?? this.#finished.get(id);
    if (writer?.retransmit(from)) return;
    running?.controller.abort(cancelled);
    const error = new RouterError('worker_lost', 'A part of the answer was lost on its way.');
    this.#broker.publish(`${reply}.x.${from}`, encodeError(error, { startedAt: this.#options.startedAt }));
  }

  /**
   * Handles the answer to a keep-alive. A dispatcher that answers does not wait for the job any more, so the job is cancelled. If the
   * dispatcher has no subscriber, it may have been killed or lost its connection. Its jobs go on for `outOfReachMs`.
   */
  onAliveAnswer(grant: string, { headers }: Msg): void {
    const job = this.#running.get(grant);
    if (headers?.code === noResponders) job?.contact.recordAbsent();
    else job?.controller.abort(cancelled);
  }

  /** Sends the keep-alives that are due, and ends jobs if the broker or their dispatcher stays out of reach. Call it twice a second. */
  sweep(now: number): void {
    const { disconnectedSince, connectedSince } = this.#broker;
    const { outOfReachMs } = this.#options;
    if (disconnectedSince !== undefined) {
      if (now - disconnectedSince > outOfReachMs)
        for (const { controller } of this.#running.values()) controller.abort(cancelled);
      return;
    }
    const isYoung = now - connectedSince < recoveryMs;
    const maxQuietMs = isYoung ? youngQuietMs : quietMs;
    for (const job of this.#running.values()) {
      if (now - (job.contact.lostSince ?? now) > outOfReachMs) job.controller.abort(cancelled);
      const { sentMs, probedMs } = job.writer.silenceMs(now);
      // The dispatcher may have offered the job without knowing whether the worker took it.
      const isUnconfirmed = job.isNew && !job.writer.hasSent;
      job.isNew = false;
      if (isUnconfirmed || sentMs > maxQuietMs || probedMs > probeMs) job.writer.probe();
      if (!isYoung) job.writer.dropConfirmed(now);
    }
    // A keep-alive reveals an end frame that was lost with the connection. Later ends are kept for a dispatcher that was out of reach for
    // longer and requests them.
    if (isYoung) for (const writer of this.#finished.endedBefore(connectedSince)) writer.probe();
    else this.#finished.dropOld(now);
  }
}

/** Splits a granted body into the request's body and the part of the answer that follows it. */
function splitBody({ relayedBytes }: Grant, body: Buffer): Pick<GrantedJob, 'body' | 'relayed'> {
  if (relayedBytes === undefined) return { body };
  const end = Math.max(0, body.length - relayedBytes);
  return { body: body.subarray(0, end), relayed: body.subarray(end) };
}

const cancelled = new Error('cancelled');

function asRouterError(error: unknown): RouterError {
  if (error instanceof RouterError) return error;
  return new RouterError('internal', 'The worker failed.', { cause: error });
}

function elapsedMs(since: number): number {
  return Math.round(performance.now() - since);
}

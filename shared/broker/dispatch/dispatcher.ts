import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Msg } from '@nats-io/transport-node';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { decodeClaim } from '../claim.ts';
import type { Broker } from '../connect-broker.ts';
import { decodeEnd, decodeError } from '../frame.ts';
import { ensureJobsStream, type QueueSettings } from '../jobs-stream.ts';
import type { JobEnd } from '../job-contract.ts';
import { parseFrameAddress } from '../subjects.ts';
import { exceededBound, type Bounds } from './exceeded-bound.ts';
import { Job, type JobRequest, type JobSink, type Placement } from './job.ts';
import type { LiveWorker, LiveWorkers } from './live-workers.ts';
import { refuseClaim, sendGrant } from './send-claim-answer.ts';
import { readTicketAnswer } from './ticket-answer.ts';
import { Tickets } from './tickets.ts';

export interface DispatchSettings {
  /** This ingress, as a subject token. */
  ingress: string;
  bounds: Bounds;
  queue: QueueSettings;
  /** Milliseconds after which an unclaimed ticket goes to the next lane too. */
  spillMs: number;
  /** Milliseconds without a byte after which the client of a stream gets a keep-alive. */
  keepAliveMs: number;
  /** How often a job is given to a worker at most. */
  maxAttempts: number;
}

/** Milliseconds between two looks at all jobs. */
const sweepMs = 100;

/** An answer that is not streamed may have this many bytes at most. */
const maxWholeAnswerBytes = 64 * 1024 * 1024;

/**
 * The ingress's side of the broker contract. It owns every job from first byte to last: publishes tickets, grants one
 * claim at a time, hands frames to the sink, moves jobs whose worker is lost, and ends those that exceed a bound.
 *
 * The hot path is `#onReply`: message, map look-up, sink.
 */
export class Dispatcher {
  readonly #broker: Broker;
  readonly #workers: LiveWorkers;
  readonly #settings: DispatchSettings;
  readonly #log: Logger;
  readonly #jobs = new Map<string, Job>();
  readonly #tickets: Tickets;
  readonly #replyPrefixLength: number;
  readonly #timer: NodeJS.Timeout;
  readonly #release: () => void;
  #restoring = false;

  constructor(broker: Broker, workers: LiveWorkers, settings: DispatchSettings, log: Logger) {
    this.#broker = broker;
    this.#workers = workers;
    this.#settings = settings;
    this.#log = log;
    this.#tickets = new Tickets(broker, settings.ingress, settings.spillMs);
    const { subjects } = broker;
    const replies = subjects.allReplies(settings.ingress);
    this.#replyPrefixLength = replies.length - 1;
    const subscriptions = [
      broker.subscribe(replies, (message) => this.#onReply(message)),
      broker.subscribe(subjects.claim(settings.ingress), ({ data, reply }) => this.#onClaim(data, reply)),
    ];
    const stopReconnect = broker.onReconnect(() => this.#onReconnect());
    workers.onLost((worker) => this.#onWorkerLost(worker));
    workers.onChange(() => {
      for (const job of this.#jobs.values()) if (job.state === 'queued') this.#tickets.replace(job);
    });
    this.#timer = setInterval(() => this.#sweep(), sweepMs);
    this.#release = () => {
      clearInterval(this.#timer);
      for (const subscription of subscriptions) subscription.unsubscribe();
      stopReconnect();
    };
  }

  /** Makes the stream of tickets. @throws when the broker has no JetStream or refuses */
  async prepare(): Promise<void> {
    await ensureJobsStream(this.#broker, this.#settings.queue);
  }

  get active(): number {
    return this.#jobs.size;
  }

  jobs(): Iterable<Job> {
    return this.#jobs.values();
  }

  /** Takes a job. Its sink hears of the answer; `job.finished` resolves when it is over, however it ended. */
  dispatch(request: JobRequest, sink: JobSink): Job {
    const job = new Job(randomBytes(16).toString('base64url'), request, sink);
    this.#jobs.set(job.id, job);
    this.#tickets.place(job);
    return job;
  }

  /** Ends a job whose client is gone: queued work will be refused, running work is stopped. */
  cancel(job: Job): void {
    if (job.isOver) return;
    this.#stopWorker(job);
    job.on('cancel');
    this.#finish(job, undefined, undefined);
  }

  /** Waits until all jobs are over, for at most this many milliseconds, then ends the rest with an error. */
  async drain(ms: number): Promise<void> {
    const timer = new AbortController();
    const over = Promise.all([...this.#jobs.values()].map((job) => job.finished));
    const timeUp = setTimeout(ms, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([timeUp, over]);
    timer.abort();
    for (const job of this.#jobs.values()) {
      this.#abandon(job, new RouterError('shutting_down', 'The router is being restarted.', { retryAfter: 1 }));
    }
  }

  close(): void {
    this.#release();
  }

  // ---- answering claims

  #onClaim(payload: Uint8Array, replyTo = ''): void {
    const claim = decodeClaim(payload);
    if (!claim || replyTo === '') return;
    const job = this.#jobs.get(claim.job);
    if (!job) return refuseClaim(this.#broker, replyTo, 'gone');
    if (job.state !== 'queued') return refuseClaim(this.#broker, replyTo, 'taken');
    const worker = this.#workers.get(claim.worker);
    if (!worker || (job.avoid.has(claim.worker) && hasAlternative(job, worker))) {
      return refuseClaim(this.#broker, replyTo, 'later');
    }
    const placement = this.#placementFor(job, worker);
    if (!placement) {
      // The worker's pool is no longer one that can serve the job; its other tickets, or new ones, still stand.
      refuseClaim(this.#broker, replyTo, 'gone');
      this.#tickets.withdraw(job, worker.pool);
      if (job.placed.size === 0) this.#tickets.place(job);
      return;
    }
    this.#grant(job, worker, placement, replyTo);
  }

  #placementFor(job: Job, worker: LiveWorker): Placement | undefined {
    const placed = job.placed.get(worker.pool);
    if (placed) return { pool: worker.pool, model: placed.model };
    return job.request.place(job.avoid).find(({ pool }) => pool === worker.pool);
  }

  #grant(job: Job, worker: LiveWorker, placement: Placement, replyTo: string): void {
    const now = performance.now();
    const { requestId, operation, family, stream, headers } = job.request;
    const body = job.body ?? Buffer.alloc(0);
    job.on('claim');
    job.attempt += 1;
    job.nextSeq = 0;
    job.served = { worker, placement };
    job.claimedAt = now;
    job.lastFrameAt = now;
    job.lastDataAt = now;
    this.#tickets.withdrawAll(job);
    worker.held.add(job.id);
    const reply = this.#broker.subjects.reply(this.#settings.ingress, job.id, job.attempt);
    sendGrant(
      this.#broker,
      replyTo,
      {
        answer: 'grant',
        job: job.id,
        requestId,
        operation,
        family,
        stream,
        model: placement.model,
        headers,
        reply,
        bodyBytes: body.length,
      },
      body,
    ).catch((error: unknown) => {
      // A connection lost between two parts: the worker will say so, or fall silent.
      this.#log.warn({ err: error, requestId }, 'sending a body was interrupted');
    });
  }

  // ---- frames

  #onReply(message: Msg): void {
    const { subject, data: payload } = message;
    const frame = parseFrameAddress(subject.slice(this.#replyPrefixLength));
    const job = frame && this.#jobs.get(frame.job);
    if (!job || frame.attempt !== job.attempt) return;
    if (frame.kind === 't') return this.#onTicketAnswer(job, frame.seq, message);
    if (job.state === 'queued') return;
    if (frame.seq !== job.nextSeq) return this.#lose(job, 'A part of the answer was lost on its way.');
    job.nextSeq += 1;
    const now = performance.now();
    job.lastFrameAt = now;
    switch (frame.kind) {
      case 'd':
        return this.#onData(job, payload, now);
      case 'k':
        return undefined;
      case 'e':
        return this.#onEnd(job, payload, now);
      case 'x':
        return this.#onError(job, decodeError(payload));
    }
  }

  #onData(job: Job, payload: Uint8Array, now: number): void {
    job.lastDataAt = now;
    if (!job.request.stream) {
      job.parts.push(payload);
      job.partsBytes += payload.length;
      if (job.partsBytes > maxWholeAnswerBytes)
        this.#abandon(job, new RouterError('upstream_failed', 'The answer is too large.'));
      return;
    }
    this.#show(job, now);
    job.sink.data(payload);
  }

  #onEnd(job: Job, payload: Uint8Array, now: number): void {
    const decoded = decodeEnd(payload);
    if (!decoded)
      return this.#abandon(job, new RouterError('internal', 'The worker ended the answer in a way it could not tell.'));
    const { end, lastBytes } = decoded;
    if (job.state === 'claimed') {
      job.firstByteAt = now;
      job.sink.begin(job);
    }
    const bytes = job.parts.length === 0 ? lastBytes : Buffer.concat([...job.parts, lastBytes]);
    job.on('end');
    job.sink.end(bytes);
    this.#finish(job, end, undefined);
  }

  /** From here on the client has seen a part of the answer: the job cannot move, so its body is not needed any more. */
  #show(job: Job, now: number): void {
    job.lastWriteAt = now;
    if (job.state !== 'claimed') return;
    job.on('output');
    job.sink.begin(job);
    job.firstByteAt = now;
    job.body = undefined;
  }

  #onError(job: Job, error: RouterError): void {
    const worker = job.served?.worker;
    if (job.state === 'claimed' && error.movable && worker && job.attempt < this.#settings.maxAttempts) {
      job.avoid.add(worker.announcement.worker);
      if (job.request.place(job.avoid).length > 0) return this.#requeue(job, error.code);
    }
    this.#fail(job, error);
  }

  #onTicketAnswer(job: Job, number: number, message: Msg): void {
    if (job.state !== 'queued') return;
    const answer = readTicketAnswer(message);
    for (const ticket of job.placed.values()) if (ticket.number === number) ticket.stored = answer === 'stored';
    if (answer === 'no-stream') this.#restoreStream();
    if (answer === 'unknown') this.#log.warn({ requestId: job.request.requestId }, 'the broker refused a ticket');
    const waits = [...job.placed.values()].some((ticket) => ticket.stored);
    if (answer === 'full' && !waits) {
      this.#fail(job, new RouterError('overloaded', 'Too many requests are waiting.', { retryAfter: 5 }));
    }
  }

  // ---- bad luck

  /** A job whose worker or frames are lost moves to another worker, unless the client has seen a part of the answer. */
  #lose(job: Job, message: string): void {
    this.#stopWorker(job);
    const worker = job.served?.worker;
    if (job.state === 'claimed' && job.attempt < this.#settings.maxAttempts) {
      if (worker) job.avoid.add(worker.announcement.worker);
      this.#requeue(job, 'worker_lost');
    } else {
      this.#fail(job, new RouterError('worker_lost', message));
    }
  }

  #requeue(job: Job, reason: string): void {
    this.#leaveWorker(job);
    job.on('lose');
    job.served = undefined;
    job.claimedAt = undefined;
    job.parts = [];
    job.partsBytes = 0;
    job.waitingSince = performance.now();
    this.#log.warn({ requestId: job.request.requestId, attempt: job.attempt, reason }, 'job goes to another worker');
    this.#tickets.place(job);
  }

  /** Ends a job that its worker is still busy with. */
  #abandon(job: Job, error: RouterError): void {
    this.#stopWorker(job);
    this.#fail(job, error);
  }

  #fail(job: Job, error: RouterError): void {
    job.on('fail');
    job.sink.fail(error);
    this.#finish(job, undefined, error);
  }

  #finish(job: Job, end: JobEnd | undefined, error: RouterError | undefined): void {
    this.#jobs.delete(job.id);
    this.#tickets.withdrawAll(job);
    this.#leaveWorker(job);
    job.body = undefined;
    job.parts = [];
    job.report(end, error);
  }

  #leaveWorker(job: Job): void {
    job.served?.worker.held.delete(job.id);
  }

  #stopWorker(job: Job): void {
    if (!job.served) return;
    const { subjects } = this.#broker;
    const { worker } = job.served.worker.announcement;
    this.#broker.publish(subjects.cancel(worker), subjects.reply(this.#settings.ingress, job.id, job.attempt));
  }

  #onWorkerLost(worker: LiveWorker): void {
    for (const id of worker.held) {
      const job = this.#jobs.get(id);
      if (job) this.#lose(job, 'The worker was lost in the middle of the answer.');
    }
  }

  /** The broker may have forgotten every ticket: all waiting jobs get new ones. Jobs in work are judged by their frames. */
  #onReconnect(): void {
    const now = performance.now();
    for (const job of this.#jobs.values()) job.lastFrameAt = now;
    this.#restoreStream();
  }

  #restoreStream(): void {
    if (this.#restoring) return;
    this.#restoring = true;
    this.prepare()
      .then(() => {
        for (const job of this.#jobs.values()) if (job.state === 'queued') this.#tickets.publishAgain(job);
      })
      .catch((error: unknown) =>
        this.#log.error({ err: error }, 'the queue of tickets could not be made, trying again'),
      )
      .finally(() => {
        this.#restoring = false;
      });
  }

  #sweep(): void {
    const now = performance.now();
    const { bounds, keepAliveMs } = this.#settings;
    const { connected } = this.#broker;
    for (const job of this.#jobs.values()) {
      const exceeded = exceededBound(job, bounds, now, connected);
      if (exceeded === 'lost') this.#lose(job, 'The worker fell silent in the middle of the answer.');
      else if (exceeded) this.#abandon(job, exceeded);
      else this.#attend(job, now, keepAliveMs);
    }
  }

  /** What a waiting job needs from time to time. */
  #attend(job: Job, now: number, keepAliveMs: number): void {
    if (job.request.stream && now - job.lastWriteAt > keepAliveMs) {
      job.lastWriteAt = now;
      job.sink.keepAlive();
    }
    if (job.state === 'queued' && this.#broker.connected) this.#tickets.attend(job, now);
  }
}

/** Whether a worker other than those that failed on the job could serve it from the same pool. */
function hasAlternative(job: Job, worker: LiveWorker): boolean {
  for (const other of worker.pool.workers) {
    if (other.announcement.accepting && !job.avoid.has(other.announcement.worker)) return true;
  }
  return false;
}

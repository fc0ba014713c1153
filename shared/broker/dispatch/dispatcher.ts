import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Msg } from '@nats-io/transport-node';
import { RouterError, type ErrorCode } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { ShortLivedMap } from '../short-lived-map.ts';
import type { TraceContext } from '#shared/core/tracing/tracing.ts';
import { decodeClaim } from '../contract/claim.ts';
import type { Broker } from '../connection/connect-broker.ts';
import { decodeError } from '../contract/frame.ts';
import type { QueueSettings } from './queue/jobs-stream.ts';
import type { JobEnd } from '../contract/job-contract.ts';
import { parseFrameAddress } from '../contract/subjects.ts';
import { addressAtEnd } from '../contract/worker-address.ts';
import { chooseOffer } from './choose-offer.ts';
import type { Bounds } from './exceeded-bound.ts';
import { Job, type JobRequest, type JobSink, type Served } from './job.ts';
import type { LiveWorker } from './workers/live-pool.ts';
import type { LiveWorkers } from './workers/live-workers.ts';
import { isInboxOf } from './is-inbox-of.ts';
import { JobWatch } from './job-watch.ts';
import { judgeClaim } from './judge-claim.ts';
import { refuseClaim } from './send-claim-answer.ts';
import { Queue } from './queue/queue.ts';
import { placementsOf } from './placements.ts';
import { JetStreamProxy } from './queue/jetstream-proxy.ts';
import { takeData, takeEnd } from './take-answer.ts';
import type { Tickets } from './queue/tickets.ts';
import { WorkerLink } from './worker-link.ts';

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

/** A job that as many workers did not take goes by ticket from then on. */
const maxRefusals = 2;

/**
 * The ingress's side of the broker contract. It owns every job from first byte to last: offers it or publishes tickets, grants
 * one claim at a time, hands frames to the sink, moves jobs whose worker is lost, and ends those that exceed a bound.
 *
 * The hot path is `#onReply`: message, map look-up, sink.
 */
export class Dispatcher {
  readonly #broker: Broker;
  readonly #workers: LiveWorkers;
  readonly #settings: DispatchSettings;
  readonly #log: Logger;
  readonly #jobs = new ShortLivedMap<Job>();
  /** The jobs that a worker has, by what only that worker knows: its grant. */
  readonly #granted = new ShortLivedMap<Job>();
  readonly #queue: Queue;
  readonly #tickets: Tickets;
  readonly #jetStreamProxy: JetStreamProxy;
  readonly #link: WorkerLink;
  readonly #replyPrefixLength: number;
  readonly #watch: JobWatch;
  readonly #release: () => void;

  constructor(broker: Broker, workers: LiveWorkers, settings: DispatchSettings, log: Logger) {
    this.#broker = broker;
    this.#workers = workers;
    this.#settings = settings;
    this.#log = log;
    this.#queue = new Queue(broker, workers, {
      ingress: settings.ingress,
      bounds: settings.queue,
      spillMs: settings.spillMs,
      log,
      jobs: this.#jobs,
      onFull: (job) => this.#fail(job, tooManyWait()),
    });
    this.#tickets = this.#queue.tickets;
    this.#jetStreamProxy = new JetStreamProxy(broker, settings.ingress);
    this.#link = new WorkerLink(broker, settings.ingress, log);
    this.#watch = new JobWatch({
      broker,
      jobs: this.#jobs,
      bounds: settings.bounds,
      keepAliveMs: settings.keepAliveMs,
      onLost: (job) => this.#lose(job, 'The worker fell silent in the middle of the answer.'),
      onExceeded: (job, error) => this.#abandon(job, error),
      onUnheard: (job) => {
        this.#link.stop(job);
        this.#onRefusal(job);
      },
      onQuiet: (job, now) => this.#link.askAgain(job, now),
      onWaiting: (job, now) => this.#queue.attend(job, now),
    });
    const { subjects } = broker;
    const replies = subjects.allReplies(settings.ingress);
    this.#replyPrefixLength = subjects.reply(settings.ingress, '').length;
    const subscriptions = [
      broker.subscribe(replies, (message) => this.#onReply(message)),
      broker.subscribe(subjects.allClaims(settings.ingress), (message) => this.#onClaim(message)),
    ];
    const stopReconnect = broker.onReconnect(() => this.#onReconnect());
    workers.onLost((worker) => this.#onWorkerLost(worker));
    workers.onChange(() => {
      for (const job of this.#jobs.values()) if (job.state === 'queued') this.#tickets.replace(job);
    });
    this.#release = () => {
      this.#watch.close();
      for (const subscription of subscriptions) subscription.unsubscribe();
      stopReconnect();
      this.#queue.close();
      this.#jetStreamProxy.close();
    };
  }

  /** Makes the streams of tickets. @throws when the broker has no JetStream or refuses */
  prepare(): Promise<void> {
    return this.#queue.prepare();
  }

  get active(): number {
    return this.#jobs.size;
  }

  jobs(): Iterable<Job> {
    return this.#jobs.values();
  }

  /**
   * Takes a job. Its sink hears of the answer; `job.finished` resolves when it is over, however it ended.
   * @param body let go of when the client has seen something of the answer, while the request lives as long as the job
   */
  dispatch(request: JobRequest, body: Buffer, sink: JobSink): Job {
    // Unguessable, and much cheaper than random bytes of our own: Node draws the randomness of many ids at once.
    const job = new Job(randomUUID(), request, body, sink);
    this.#jobs.set(job.id, job);
    this.#enqueue(job);
    return job;
  }

  /** Ends a job whose client is gone: queued work will be refused, running work is stopped. */
  cancel(job: Job): void {
    if (job.isOver) return;
    this.#link.stop(job);
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

  // ---- finding a worker

  /** Offers a job to a worker that is known to wait for one; where there is none, its tickets find who comes first. */
  #enqueue(job: Job): void {
    const placements = placementsOf(job);
    const mayBeOffered = this.#broker.connected && job.refusals < maxRefusals;
    const offer = mayBeOffered ? chooseOffer(job, placements) : undefined;
    const v = offer?.placement.pool.contract;
    if (!offer || v === undefined) return this.#tickets.place(job, placements);
    const { worker, placement, at } = offer;
    const served = { worker, placement, grant: randomUUID(), offered: true };
    job.on('offer');
    this.#link.offer(job, served, { v, at }, this.#serve(job, served));
  }

  /** The worker has filled up since it last told of itself, looks through its lanes first, or is gone. */
  #onRefusal(job: Job): void {
    // Whoever has begun cannot refuse any more.
    if (!job.served?.offered || job.heard) return;
    job.served.worker.hasRefused = true;
    this.#leaveWorker(job);
    job.trace?.refused();
    job.on('refuse');
    job.attempt -= 1;
    job.refusals += 1;
    job.takeBack();
    this.#enqueue(job);
  }

  /** Who claims, the subject tells; who may be answered, too. */
  #onClaim({ subject, data, reply: replyTo = '' }: Msg): void {
    const claim = decodeClaim(data);
    const address = addressAtEnd(subject);
    if (!claim || !address || !isInboxOf(this.#broker.subjects, address, replyTo)) return;
    const job = this.#jobs.get(claim.job);
    const worker = this.#workers.at(address);
    const verdict = judgeClaim(job, worker, claim.v);
    if (job && worker && typeof verdict !== 'string') {
      const served = { worker, placement: verdict, grant: randomUUID(), offered: false };
      this.#grant(job, served, { v: claim.v, replyTo });
      return this.#jetStreamProxy.ack(address, claim.ticket, 'done');
    }
    refuseClaim(this.#broker, replyTo, typeof verdict === 'string' ? verdict : 'gone');
    this.#jetStreamProxy.ack(address, claim.ticket, verdict === 'later' ? 'later' : 'done');
    if (verdict !== 'gone' || !job || !worker) return;
    this.#tickets.withdraw(job, worker.pool);
    if (job.placed.size === 0) this.#tickets.place(job);
  }

  #grant(job: Job, served: Served, claim: { v: number; replyTo: string }): void {
    job.on('claim');
    this.#tickets.withdrawAll(job);
    this.#link.grant(job, served, claim, this.#serve(job, served));
  }

  /** From here on a worker has the job. @returns what it is to know of the request's trace */
  #serve(job: Job, served: Served): TraceContext | undefined {
    job.give(served);
    served.worker.held += 1;
    this.#granted.set(served.grant, job);
    return job.trace?.claimed(job, served.worker.pool);
  }

  // ---- frames

  #onReply(message: Msg): void {
    const { subject, data: payload } = message;
    const frame = parseFrameAddress(subject.slice(this.#replyPrefixLength));
    const job = frame && this.#granted.get(frame.grant);
    if (!job) return this.#onUnwanted(message, frame?.grant);
    const now = performance.now();
    if (frame.seq > job.nextSeq) return this.#link.askAgain(job, now);
    // What was sent again may have come already.
    if (frame.seq < job.nextSeq) return undefined;
    if (frame.kind === 'r') return this.#onRefusal(job);
    job.heard = true;
    job.lastFrameAt = now;
    if (frame.kind === 'k') return undefined;
    job.nextSeq += 1;
    switch (frame.kind) {
      case 'd':
        if (!takeData(job, payload, now)) this.#abandon(job, answerTooLarge());
        return undefined;
      case 'e':
        return this.#onEnd(job, takeEnd(job, payload, now));
      case 'x':
        return this.#onError(job, decodeError(payload));
    }
  }

  #onEnd(job: Job, end: JobEnd | undefined): void {
    if (end) this.#finish(job, end, undefined);
    else this.#abandon(job, unreadableEnd());
  }

  #onError(job: Job, error: RouterError): void {
    if (error.code === 'worker_lost') return this.#lose(job, error.message);
    const worker = job.served?.worker;
    if (error.movable && worker && this.#mayMove(job)) {
      job.avoid = new Set(job.avoid).add(worker.id);
      if (job.request.place(job.avoid).length > 0) return this.#requeue(job, error.code);
    }
    this.#fail(job, error);
  }

  /** Tells a worker that asks, with a keep-alive, that nobody waits for this answer any more. */
  #onUnwanted({ reply }: Msg, grant: string | undefined): void {
    // The broker lets a worker name any subject to be answered at: only who knows a grant hears that it is over.
    const isOwn = reply?.startsWith(this.#broker.subjects.allInboxes) === true && reply.endsWith(`.alive.${grant}`);
    if (isOwn) this.#broker.publish(reply, '');
  }

  // ---- bad luck

  /** A job whose worker or frames are lost moves to another worker, unless the client has seen a part of the answer. */
  #lose(job: Job, message: string): void {
    this.#link.stop(job);
    const worker = job.served?.worker;
    if (this.#mayMove(job)) {
      if (worker) job.avoid = new Set(job.avoid).add(worker.id);
      this.#requeue(job, 'worker_lost');
    } else {
      this.#fail(job, new RouterError('worker_lost', message));
    }
  }

  /** A tool may have done its work before it was lost, and must not do it twice. */
  #mayMove({ state, attempt, request }: Job): boolean {
    return state === 'claimed' && request.operation !== 'execute_tool' && attempt < this.#settings.maxAttempts;
  }

  #requeue(job: Job, reason: ErrorCode): void {
    this.#leaveWorker(job);
    job.trace?.lost(reason);
    job.on('lose');
    job.moves = [...job.moves, reason];
    job.takeBack();
    job.waitingSince = performance.now();
    const { requestId } = job.request;
    const traceId = job.trace?.traceId;
    this.#log.warn({ requestId, traceId, attempt: job.attempt, reason }, 'job goes to another worker');
    this.#enqueue(job);
  }

  /** Ends a job that its worker is still busy with. */
  #abandon(job: Job, error: RouterError): void {
    this.#link.stop(job);
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
    job.trace?.over(job, error?.code ?? (job.state === 'cancelled' ? 'cancelled' : undefined));
    job.report(end, error);
  }

  #leaveWorker({ served }: Job): void {
    if (served && this.#granted.delete(served.grant)) served.worker.held -= 1;
  }

  #onWorkerLost(worker: LiveWorker): void {
    for (const job of this.#jobs.values()) {
      if (job.served?.worker === worker) this.#lose(job, 'The worker was lost in the middle of the answer.');
    }
  }

  /**
   * Whatever was on its way when the connection was lost is gone: tickets that workers took in vain, and frames, which
   * their workers are asked for.
   */
  #onReconnect(): void {
    this.#watch.forgiveSilence();
    this.#queue.suspect();
    for (const job of this.#jobs.values()) if (job.state !== 'queued') this.#link.askAgain(job, performance.now());
  }
}

function tooManyWait(): RouterError {
  return new RouterError('overloaded', 'Too many requests are waiting.', { retryAfter: 5 });
}

function answerTooLarge(): RouterError {
  return new RouterError('upstream_failed', 'The answer is too large.');
}

function unreadableEnd(): RouterError {
  return new RouterError('internal', 'The worker ended the answer in a way it could not tell.');
}

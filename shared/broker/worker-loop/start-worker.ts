import { jetstreamManager } from '@nats-io/jetstream';
import { createInbox, type Msg } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { poolOf, type Announcement, type ModelInfo, type ToolInfo } from '../announcement.ts';
import type { ClaimAnswer, Grant } from '../claim.ts';
import type { Broker } from '../connect-broker.ts';
import type { JobHandler } from '../job-contract.ts';
import type { Tier } from '../lane.ts';
import { decodeTicket, type Ticket } from '../ticket.ts';
import { Beat } from './beat.ts';
import { Claimer } from './claimer.ts';
import { Puller } from './puller.ts';
import { ReplyWriter } from './reply-writer.ts';

/** Milliseconds without a frame after which a running job sends a keep-alive. */
const quietMs = 2_500;

/** Milliseconds a worker goes on with its jobs while it cannot reach the broker. Nobody gets what it makes meanwhile. */
const disconnectedMs = 15_000;

/** Milliseconds before a ticket that is not for this worker is delivered to another one. */
const laterMs = 100;

/** What of an announcement a worker may change while it runs. */
export interface WorkerFacts {
  models: ModelInfo[];
  tools?: ToolInfo[];
  /** Jobs it serves at once. */
  slots: number;
  /** Whether it takes jobs right now. */
  accepting: boolean;
}

export interface WorkerOptions extends WorkerFacts {
  broker: Broker;
  log: Logger;
  /** The worker's id: letters, digits, `_`, `-`; unique in the cluster. */
  id: string;
  tier: Tier;
  /** The kind of thing behind the worker, as `vllm`: workers of one kind with the same models are interchangeable. */
  kind: string;
  version: string;
  handler: JobHandler;
  /** Length of the window in which pieces of an answer travel together, in milliseconds. 0: each by itself. */
  coalesceMs: number;
}

/** A job in work; the map's key is its reply subject, which names the attempt. */
interface Running {
  controller: AbortController;
  writer: ReplyWriter;
}

/**
 * A worker on the broker: it announces itself, pulls a ticket when it has a free slot, claims the job, hands it to its
 * handler and sends what the handler writes.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #broker: Broker;
  readonly #log: Logger;
  readonly #running = new Map<string, Running>();
  readonly #puller: Puller;
  readonly #claimer: Claimer;
  readonly #beat: Beat;
  readonly #releases: (() => void)[];
  readonly #startedAt = Date.now();
  #facts: WorkerFacts;
  #pool: string;
  #claiming = 0;
  #draining = false;
  #disconnectedSince: number | undefined;
  #idle: (() => void) | undefined;

  constructor(options: WorkerOptions, manager: Awaited<ReturnType<typeof jetstreamManager>>) {
    const { broker, log, id, tier, kind } = options;
    this.#options = options;
    this.#broker = broker;
    this.#log = log;
    this.#facts = options;
    this.#pool = poolOf(tier, kind, options.models);
    const inbox = createInbox();
    this.#claimer = new Claimer(broker, id, `${inbox}.claim`);
    const inboxSubscription = broker.subscribe(`${inbox}.>`, (message) => this.#onInbox(message, inbox.length));
    const cancelSubscription = broker.subscribe(broker.subjects.cancel(id), ({ data }) => this.#onCancel(data));
    const puller = { broker, manager, log, inbox: `${inbox}.pull`, free: () => this.#free() };
    this.#puller = new Puller(puller, tier, this.#pool);
    this.#beat = new Beat(broker, id, () => this.#announcement());
    const care = setInterval(() => this.#care(), 500);
    this.#releases = [
      () => inboxSubscription.unsubscribe(),
      () => cancelSubscription.unsubscribe(),
      broker.onReconnect(() => this.#puller.reset()),
      () => clearInterval(care),
    ];
  }

  get busy(): number {
    return this.#running.size + this.#claiming;
  }

  /** Changes what the worker announces; the cluster hears of it at once. */
  update(change: Partial<WorkerFacts>): void {
    this.#facts = { ...this.#facts, ...change };
    const pool = poolOf(this.#options.tier, this.#options.kind, this.#facts.models);
    if (pool !== this.#pool) {
      this.#pool = pool;
      this.#puller.moveTo(pool);
    }
    this.#beat.now();
    this.#puller.kick();
  }

  /** Takes nothing new and waits until its jobs are over, for at most this many milliseconds; the rest is ended. */
  async drain(ms: number): Promise<void> {
    this.#draining = true;
    this.#beat.now();
    if (this.busy > 0) {
      const idle = new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
      const timer = new AbortController();
      await Promise.race([idle, sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined)]);
      timer.abort();
    }
    for (const { controller } of this.#running.values()) {
      controller.abort(new RouterError('shutting_down', 'The worker is being restarted.'));
    }
  }

  /** Says good-bye and lets go of the broker. Call `drain` before. */
  async close(): Promise<void> {
    this.#puller.close();
    this.#beat.stop();
    for (const release of this.#releases) release();
    if (this.#broker.connected) await Promise.race([this.#broker.flush(), sleep(1_000, undefined, { ref: false })]);
  }

  #free(): number {
    if (this.#draining || !this.#facts.accepting || !this.#broker.connected) return 0;
    return this.#facts.slots - this.busy;
  }

  #announcement(): Announcement {
    const { id, tier, version } = this.#options;
    const { models, tools = [], slots, accepting } = this.#facts;
    return {
      v: 1,
      worker: id,
      tier,
      pool: this.#pool,
      models,
      tools,
      slots,
      busy: Math.min(this.busy, slots),
      accepting: accepting && !this.#draining,
      version,
      startedAt: this.#startedAt,
    };
  }

  // ---- tickets and claims

  /** Tickets come with the subject they were published to; what is said to pulls and claims, with the inbox's. */
  #onInbox(message: Msg, inboxLength: number): void {
    const [kind, name] = message.subject.slice(inboxLength + 1).split('.');
    if (message.reply?.startsWith('$JS.ACK.')) this.#onTicket(message, message.reply);
    else if (kind === 'pull' && name !== undefined) this.#puller.onStatus(name, message);
    else if (kind === 'claim' && name !== undefined) this.#claimer.onMessage(name, message);
  }

  #onTicket({ data, subject }: Msg, ackTo: string): void {
    const isFree = this.#free() > 0;
    // The slot is taken before the puller counts the ticket, because counting it may make the puller ask for more.
    this.#claiming += 1;
    const isOwn = this.#puller.onTicket(subject);
    const ticket = decodeTicket(data);
    if (ticket && isOwn && isFree) {
      this.#claim(ticket, ackTo);
      return;
    }
    this.#claiming -= 1;
    this.#broker.publish(ackTo, ticket ? '-NAK' : '+TERM');
  }

  #claim(ticket: Ticket, ackTo: string): void {
    const settle = (answer: ClaimAnswer['answer']) =>
      this.#broker.publish(ackTo, answer === 'later' ? `-NAK {"delay": ${laterMs * 1_000_000}}` : '+ACK');
    this.#claimer
      .claim(ticket, settle)
      .then((outcome) => {
        this.#claiming -= 1;
        if (outcome.kind === 'grant') this.#run(outcome.grant, outcome.body);
        if (outcome.kind === 'silent' && outcome.grant) this.#reportBrokenBody(outcome.grant);
        this.#freed();
      })
      .catch((error: unknown) => this.#log.error({ err: error }, 'a claim failed'));
    this.#puller.kick();
  }

  #reportBrokenBody({ reply }: Grant): void {
    const error = new RouterError('worker_lost', 'The request was lost on its way to the worker.');
    new ReplyWriter(this.#broker, reply, 0).fail(error);
  }

  // ---- jobs

  #run(grant: Grant, body: Buffer): void {
    const { requestId, operation, family, stream, model, headers } = grant;
    const controller = new AbortController();
    const writer = new ReplyWriter(this.#broker, grant.reply, this.#options.coalesceMs);
    this.#running.set(grant.reply, { controller, writer });
    const job = { id: grant.job, requestId, operation, family, stream, model, headers, body };
    const startedAt = performance.now();
    const log = this.#log.child({ requestId });
    this.#options
      .handler(job, writer, controller.signal)
      .then((end) => {
        writer.end(end);
        log.info({ model, operation, family, stream, ms: elapsed(startedAt), usage: end.usage }, 'job done');
      })
      .catch((error: unknown) => {
        if (controller.signal.aborted && controller.signal.reason === cancelled) {
          writer.close();
          log.info({ model, operation, ms: elapsed(startedAt) }, 'job cancelled');
          return;
        }
        const told = asRouterError(controller.signal.aborted ? controller.signal.reason : error);
        log.warn({ model, operation, ms: elapsed(startedAt), code: told.code, err: error }, 'job failed');
        writer.fail(told);
      })
      .finally(() => {
        this.#running.delete(grant.reply);
        this.#freed();
      })
      .catch((error: unknown) => log.error({ err: error }, 'ending a job failed'));
  }

  #freed(): void {
    if (this.busy === 0) this.#idle?.();
    this.#puller.kick();
  }

  /** A cancel names the attempt by its reply subject: the job itself may be back here for another attempt. */
  #onCancel(payload: Uint8Array): void {
    this.#running.get(Buffer.from(payload).toString())?.controller.abort(cancelled);
  }

  /** Keeps running jobs alive at their ingress, and ends them when nobody can be reached any more. */
  #care(): void {
    for (const { writer } of this.#running.values()) writer.keepAlive(quietMs);
    if (this.#broker.connected) {
      this.#disconnectedSince = undefined;
      return;
    }
    this.#disconnectedSince ??= performance.now();
    if (performance.now() - this.#disconnectedSince < disconnectedMs) return;
    for (const { controller } of this.#running.values()) controller.abort(cancelled);
  }
}

/** Connects a worker to the broker's queue and starts it. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const manager = await jetstreamManager(options.broker.nc, { checkAPI: false, timeout: 2_000 });
  return new Worker(options, manager);
}

/** Abort reason of a job whose client is gone. */
const cancelled = new Error('cancelled');

function asRouterError(error: unknown): RouterError {
  if (error instanceof RouterError) return error;
  return new RouterError('internal', 'The worker failed.', { cause: error });
}

function elapsed(since: number): number {
  return Math.round(performance.now() - since);
}

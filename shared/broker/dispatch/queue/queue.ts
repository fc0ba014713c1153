import type { Msg } from '@nats-io/transport-node';
import { z } from 'zod';
import { noRespondersCode } from '../../connection/connect-broker.ts';
import { parseJson } from '../../contract/ticket.ts';
import type { DispatchContext } from '../dispatch-context.ts';
import type { Job } from '../job.ts';
import { LaneMaker } from './lane-maker.ts';
import { TicketStreams } from './ticket-streams.ts';
import { Tickets } from './tickets.ts';

type TicketAnswer = 'stored' | 'full' | 'no-stream' | 'unknown';

const answerSchema = z.object({
  stream: z.string().optional(),
  seq: z.number().optional(),
  error: z.object({ err_code: z.number().optional(), description: z.string().optional() }).optional(),
});

/** JetStream's error for a message that could not be stored, for example because the stream is full. */
const storeFailedCode = 10077;

/**
 * The queue at the broker: the tickets of waiting jobs, the streams that store the tickets, and the lanes. Missing streams and lanes are
 * made again.
 */
export class Queue {
  readonly tickets: Tickets;
  readonly #context: DispatchContext;
  readonly #onFull: (job: Job) => void;
  readonly #streams: TicketStreams;
  readonly #laneMaker: LaneMaker;
  readonly #stopListening: () => void;

  /**
   * @param offer see `Tickets`
   * @param handOver see `Tickets`
   * @param onFull called with a job if the broker has no room for any ticket of the job, or if the job would wait longer than it may
   */
  constructor(
    context: DispatchContext,
    offer: (job: Job) => boolean,
    handOver: (job: Job) => void,
    onFull: (job: Job) => void,
  ) {
    this.#context = context;
    this.#onFull = onFull;
    this.tickets = new Tickets(context, offer, handOver, onFull);
    this.#streams = new TicketStreams(
      context,
      (tier) => this.#forEachQueued((job) => this.tickets.publishAgain(job, tier)),
      (tier, held) => this.#forEachQueued((job) => this.tickets.publishLost(job, tier, held)),
    );
    this.#laneMaker = new LaneMaker(context, (tier) => this.#streams.checkNow(tier));
    const answers = context.broker.subscribe(this.tickets.answerSubjects, (message) => this.#onAnswer(message));
    this.#stopListening = () => answers.unsubscribe();
  }

  /**
   * Creates the streams of tickets, or updates existing ones.
   * @throws if the broker has no JetStream, or refuses to create them
   */
  prepare(): Promise<void> {
    return this.#streams.prepare();
  }

  /**
   * Publishes the tickets of all waiting jobs again, as soon as their streams exist. Call it after the connection was lost: tickets under
   * way were lost with it, and the broker may have lost stored tickets, too.
   */
  checkStreams(): void {
    this.#streams.checkAllNow();
  }

  /** Maintains the tickets of a waiting job, and the streams that store them. Call it regularly, see `JobSweep`. */
  maintain(job: Job, now: number): void {
    this.tickets.maintain(job, now);
    for (const { tier } of job.tickets.placed.keys()) this.#streams.maintain(tier, now);
  }

  close(): void {
    this.#stopListening();
    this.#laneMaker.close();
  }

  #onAnswer(message: Msg): void {
    const [id = '', number] = message.subject.split('.').slice(-2);
    const job = this.#context.jobs.get(id);
    if (job?.state !== 'queued') return;
    const { answer, seq } = readTicketAnswer(message);
    if (answer === 'no-stream') for (const { tier } of job.tickets.placed.keys()) this.#streams.checkNow(tier);
    else if (answer === 'unknown')
      this.#context.log.warn({ requestId: job.request.requestId }, 'the broker refused a ticket');
    else if (job.tickets.recordAnswer(Number(number), answer, seq)) this.#onFull(job);
  }

  #forEachQueued(act: (job: Job) => void): void {
    for (const job of this.#context.jobs.values()) if (job.state === 'queued') act(job);
  }
}

/**
 * Parses JetStream's answer to a published ticket. Without a stream for the ticket's subject, the broker answers that there is no
 * subscriber.
 */
function readTicketAnswer({ data, headers }: Msg): { answer: TicketAnswer; seq?: number | undefined } {
  if (headers?.code === noRespondersCode) return { answer: 'no-stream' };
  const { error, stream, seq } = parseJson(data, answerSchema) ?? {};
  if (error?.err_code === storeFailedCode) return { answer: 'full' };
  return stream !== undefined && seq !== undefined ? { answer: 'stored', seq } : { answer: 'unknown' };
}

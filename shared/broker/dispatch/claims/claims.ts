import type { Msg } from '@nats-io/transport-node';
import { readTicketClass } from '../../contract/ack.ts';
import { decodeClaim, noAckSubject, type Claim } from '../../contract/claim.ts';
import { isOwnInbox } from '../../contract/subjects.ts';
import { Attempt } from '../attempt.ts';
import type { DispatchContext } from '../dispatch-context.ts';
import type { Job } from '../job.ts';
import type { JetStreamProxy } from '../queue/jetstream-proxy.ts';
import type { Tickets } from '../queue/tickets.ts';
import type { Placement } from '../workers/live-pool.ts';
import type { LiveWorker } from '../workers/live-worker.ts';
import { judgeClaim, type ClaimVerdict } from './judge-claim.ts';

/** Answers the claims of workers: grants the job that is next in the lane of the claimed ticket, or refuses. */
export class Claims {
  readonly #context: DispatchContext;
  readonly #tickets: Tickets;
  readonly #jetStreamProxy: JetStreamProxy;

  constructor(context: DispatchContext, tickets: Tickets, jetStreamProxy: JetStreamProxy) {
    this.#context = context;
    this.#tickets = tickets;
    this.#jetStreamProxy = jetStreamProxy;
  }

  /** Handles a claim. The claim's subject names the worker, and the answer goes only to an inbox of that worker. */
  onClaim(message: Msg): void {
    const { broker, workers, jobs, link, quarantine, raise } = this.#context;
    const { reply: replyTo = '' } = message;
    const address = workers.workerMessages.admit(message);
    const claim = address && decodeClaim(message.data);
    if (!claim || !isOwnInbox(broker.subjects, address, replyTo)) return;
    const job = jobs.get(claim.job);
    // Also undefined for a process that has just replaced the announced one. If it got a job under the old announcement, the job would
    // count as lost together with the old process.
    const worker = workers.findByAddress(address);
    const mayTake = !job || !worker || quarantine.mayTake(worker, job);
    const verdict = mayTake ? judgeClaim(job, worker, claim.v) : 'later';
    const choice = worker && this.#chooseJob(job, verdict, worker, claim);
    if (choice) {
      workers.workerMessages.recordGrant(address);
      choice.job.tickets.withdraw(worker.pool, choice.job === job);
      choice.job.tickets.withdrawAll();
      const attempt = new Attempt(worker, choice.placement, false);
      raise(choice.job, { type: 'granted', attempt, to: { replyTo, v: claim.v } });
      // If the claim got another job, the ticket's own job still waits and needs the ticket.
      const isGivenBack = job?.state === 'queued' && choice.job !== job;
      return this.#jetStreamProxy.ack(address, claim.ticket, isGivenBack ? 'back' : 'done');
    }
    if (verdict === 'ejected' && worker) {
      this.#jetStreamProxy.ack(address, claim.ticket, 'back');
      return link.refuseDelayed(replyTo, worker);
    }
    link.refuse(replyTo, verdict === 'taken' || verdict === 'later' ? verdict : 'gone');
    this.#jetStreamProxy.ack(address, claim.ticket, verdict === 'later' ? 'later' : 'done');
    if (verdict !== 'gone' || !job || !worker) return;
    job.tickets.withdraw(worker.pool, true);
    if (job.tickets.placed.size === 0) this.#tickets.place(job);
  }

  /**
   * Chooses the job that the claim gets, and its placement: the next job in line in the lane of the claim's ticket, whether the ticket's
   * own job still waits or not. Returns undefined if the claim is refused.
   * @param claimed the ticket's own job
   */
  #chooseJob(
    claimed: Job | undefined,
    verdict: ClaimVerdict,
    worker: LiveWorker,
    { v, ticket }: Claim,
  ): { job: Job; placement: Placement } | undefined {
    const { quarantine } = this.#context;
    const mayTake = (other: Job): boolean =>
      quarantine.mayTake(worker, other) && typeof judgeClaim(other, worker, v) !== 'string';
    let job: Job | undefined;
    if (claimed && typeof verdict !== 'string') {
      if (ticket === noAckSubject) return { job: claimed, placement: verdict };
      job = this.#tickets.getLane(worker.pool, claimed.request.class).chooseJobForTicket(claimed, mayTake);
      if (job === claimed) return { job, placement: verdict };
    } else if (verdict === 'taken' || !claimed) {
      const priority = readTicketClass(ticket, worker.pool.pool);
      job = priority && this.#tickets.getLane(worker.pool, priority).chooseJobForSpareTicket(mayTake);
    }
    const placement = job && judgeClaim(job, worker, v);
    return job && placement && typeof placement !== 'string' ? { job, placement } : undefined;
  }
}

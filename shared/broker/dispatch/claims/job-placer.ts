import type { Msg } from '@nats-io/transport-node';
import type { Broker } from '../../connection/connect-broker.ts';
import { readTicketClass } from '../../contract/ack.ts';
import { bodyPartBytes, decodeClaim, noAckSubject, type Claim } from '../../contract/claim.ts';
import { belongToSameProcess, isOwnInbox } from '../../contract/subjects.ts';
import { parseWorkerAddress, type WorkerAddress } from '../../contract/worker-address.ts';
import { Attempt } from '../attempt.ts';
import type { Job } from '../job.ts';
import type { Quarantine } from '../deaths/quarantine.ts';
import type { JobTable } from '../job-table.ts';
import type { JetStreamProxy } from '../queue/jetstream-proxy.ts';
import type { Tickets } from '../queue/tickets.ts';
import type { WorkerLink } from '../worker-link.ts';
import type { LiveWorker, Placement } from '../workers/live-pool.ts';
import type { LiveWorkers } from '../workers/live-workers.ts';
import { chooseOffer, type Offer } from './choose-offer.ts';
import { chooseRecipient } from './choose-recipient.ts';
import { judgeClaim, type Verdict } from './judge-claim.ts';
import { placementsOf } from './placements.ts';

/** Number of refused offers after which a job is not offered any more and waits for its tickets to be claimed. */
const maxRefusals = 2;

/** Milliseconds until the next check whether a quarantined job may be offered. */
const quarantineRetryMs = 20;

/**
 * Milliseconds that a worker has to claim a job with a large body after its ticket was sent straight to the worker. Then the job's tickets
 * are published.
 */
const claimMs = 50;

export interface JobPlacerParts {
  broker: Broker;
  workers: LiveWorkers;
  jobs: JobTable;
  tickets: Tickets;
  link: WorkerLink;
  jetStreamProxy: JetStreamProxy;
  quarantine: Quarantine;
  /** Schedules another search for a worker for a job that has no tickets yet, after this many milliseconds. */
  lookAgain: (job: Job, ms: number) => void;
}

/**
 * Finds a worker for each job. Offers the job to a waiting worker, or lets workers claim its tickets. At most one worker has a job at a
 * time.
 */
export class JobPlacer {
  readonly #parts: JobPlacerParts;

  constructor(parts: JobPlacerParts) {
    this.#parts = parts;
  }

  /** Offers a job to a worker that is known to wait for one. If there is none, publishes tickets for it. */
  place(job: Job): void {
    const { tickets, link } = this.#parts;
    const placements = placementsOf(job);
    const offer = this.#chooseOffer(job, placements);
    if (!offer && this.#isKeptApart(job, placements)) return this.#waitApart(job);
    if (!offer) return tickets.place(job, placements);
    if (isLarge(job)) return this.#sendTicket(job, placements, offer);
    const attempt = new Attempt(offer.worker, offer.placement, true);
    link.offer(job, attempt, offer, this.#give(job, attempt));
  }

  /**
   * Offers a job from the queue because no job of its lane is claimed; JetStream may have no leader.
   * @returns false if no worker is known to wait for a job
   */
  offerWaiting(job: Job): boolean {
    const { link } = this.#parts;
    const offer = isLarge(job) ? undefined : this.#chooseOffer(job, placementsOf(job), true);
    if (!offer) return false;
    const attempt = new Attempt(offer.worker, offer.placement, true);
    const context = this.#give(job, attempt);
    // The next job in line gets a ticket of its own, and can then be offered.
    job.tickets.withdrawAll(true);
    link.offer(job, attempt, offer, context);
    return true;
  }

  /** Sends a ticket of a waiting job straight to a worker, which claims the job as with any other ticket. Does so at most once a second. */
  handOver(job: Job): void {
    const { broker, link, quarantine } = this.#parts;
    if (!broker.connected || !job.tickets.tryHandOver(performance.now())) return;
    const to = chooseRecipient(job, (worker) => quarantine.mayTake(worker, job));
    if (to) link.sendTicket(job, to);
  }

  /** Sends only a ticket, past the broker's queue, because a refused offer of a large body would cost more than it saves. */
  #sendTicket(job: Job, placements: Placement[], offer: Offer): void {
    const { tickets, link, lookAgain } = this.#parts;
    if (!job.tickets.tryHandOver(performance.now())) return tickets.place(job, placements);
    job.recordWorkerSearch(true);
    link.sendTicket(job, offer);
    lookAgain(job, claimMs);
  }

  /** Handles a refused offer. The worker has filled up since its last heartbeat, must first check its lanes for tickets, or is lost. */
  onRefusal(job: Job): void {
    const { attempt } = job;
    // A worker that has begun the job cannot refuse it any more.
    if (!attempt?.isOffered || attempt.isConfirmed) return;
    attempt.worker.hasRefused = true;
    this.#parts.jobs.endAttempt(job);
    job.refused();
    this.place(job);
  }

  /** Handles a claim. The claim's subject names the worker, which limits the inboxes for the answer. */
  onClaim({ subject, data, reply: replyTo = '' }: Msg): void {
    const { broker, jobs, tickets, link, jetStreamProxy, quarantine } = this.#parts;
    const claim = decodeClaim(data);
    const address = parseWorkerAddress(subject);
    if (!claim || !address || !isOwnInbox(broker.subjects, address, replyTo)) return;
    const job = jobs.get(claim.job);
    const worker = this.#claimant(address, replyTo);
    const mayTake = !job || !worker || quarantine.mayTake(worker, job);
    const verdict = mayTake ? judgeClaim(job, worker, claim.v) : 'later';
    const granted = worker && this.#jobInTurn(job, verdict, worker, claim);
    if (granted) {
      const attempt = new Attempt(worker, granted.placement, false);
      const context = this.#give(granted.job, attempt);
      granted.job.tickets.withdraw(worker.pool, granted.job === job);
      granted.job.tickets.withdrawAll();
      link.grant(granted.job, attempt, { v: claim.v, replyTo }, context);
      // The ticket still stands for its own job if that job still waits.
      const isBack = job?.state === 'queued' && granted.job !== job;
      return jetStreamProxy.ack(address, claim.ticket, isBack ? 'back' : 'done');
    }
    if (verdict === 'ejected' && worker) {
      jetStreamProxy.ack(address, claim.ticket, 'back');
      return link.refuseDelayed(replyTo, worker);
    }
    link.refuse(replyTo, verdict === 'taken' || verdict === 'later' ? verdict : 'gone');
    jetStreamProxy.ack(address, claim.ticket, verdict === 'later' ? 'later' : 'done');
    if (verdict !== 'gone' || !job || !worker) return;
    job.tickets.withdraw(worker.pool, true);
    if (job.tickets.placed.size === 0) tickets.place(job);
  }

  /**
   * Finds the worker that claims; undefined if it is not known. A process other than the announced one may just have replaced it. Its claim
   * is refused, because a job granted to it under the old announcement would count as lost with the dead process.
   */
  #claimant(address: WorkerAddress, replyTo: string): LiveWorker | undefined {
    const { broker, workers } = this.#parts;
    const worker = workers.at(address);
    const { offersAt } = worker?.announcement ?? {};
    const isAnother = offersAt !== undefined && !belongToSameProcess(broker.subjects, address, offersAt, replyTo);
    return isAnother ? undefined : worker;
  }

  /**
   * Chooses the job that gets a claim, and its placement. It is the next job in line in the ticket's lane, whether the ticket's own job
   * still waits or has ended. Undefined if the claim is refused.
   */
  #jobInTurn(
    claimed: Job | undefined,
    verdict: Verdict,
    worker: LiveWorker,
    { v, ticket }: Claim,
  ): { job: Job; placement: Placement } | undefined {
    const { tickets, quarantine } = this.#parts;
    const mayTake = (other: Job): boolean =>
      quarantine.mayTake(worker, other) && typeof judgeClaim(other, worker, v) !== 'string';
    let job: Job | undefined;
    if (claimed && typeof verdict !== 'string') {
      if (ticket === noAckSubject) return { job: claimed, placement: verdict };
      job = tickets.getLane(worker.pool, claimed.request.class).turn(claimed, mayTake);
      if (job === claimed) return { job, placement: verdict };
    } else if (verdict === 'taken' || !claimed) {
      const priority = readTicketClass(ticket, worker.pool.pool);
      job = priority && tickets.getLane(worker.pool, priority).chooseJobForSpareTicket(mayTake);
    }
    const placement = job && judgeClaim(job, worker, v);
    return job && placement && typeof placement !== 'string' ? { job, placement } : undefined;
  }

  /** Whether the quarantine is the only reason not to offer the job to a worker. The quarantine lasts only a moment. */
  #isKeptApart(job: Job, placements: readonly Placement[]): boolean {
    const { broker, quarantine } = this.#parts;
    if (!quarantine.isWaiting(job) || !broker.connected || job.refusals >= maxRefusals) return false;
    return chooseOffer(job, placements, () => true) !== undefined;
  }

  /**
   * Waits for the end of the quarantine without tickets, because a claim for a ticket would take longer, and would delay the jobs behind
   * it.
   */
  #waitApart(job: Job): void {
    job.recordWorkerSearch(true);
    this.#parts.lookAgain(job, quarantineRetryMs);
  }

  #chooseOffer(job: Job, placements: readonly Placement[], hasWaited = false): Offer | undefined {
    const { broker, quarantine } = this.#parts;
    if (!broker.connected || job.refusals >= maxRefusals) return undefined;
    return chooseOffer(job, placements, (worker) => quarantine.mayTake(worker, job), hasWaited);
  }

  #give(job: Job, attempt: Attempt): ReturnType<Job['beginAttempt']> {
    const context = job.beginAttempt(attempt);
    this.#parts.jobs.recordAttempt(job, attempt);
    this.#parts.quarantine.gave(attempt.worker, job);
    return context;
  }
}

/** Whether a body does not fit into one message with its grant. */
function isLarge({ payload }: Job): boolean {
  return payload.length > bodyPartBytes;
}

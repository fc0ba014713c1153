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
import type { Placement } from '../workers/live-pool.ts';
import type { LiveWorker } from '../workers/live-worker.ts';
import type { LiveWorkers } from '../workers/live-workers.ts';
import { chooseOffer, type Offer } from './choose-offer.ts';
import { chooseRecipient } from './choose-recipient.ts';
import { judgeClaim, type Verdict } from './judge-claim.ts';
import { rankPlacements } from './placements.ts';

/** Number of refused offers after which a job is not offered any more and waits for its tickets to be claimed. */
const maxRefusals = 2;

/** Milliseconds until the next check whether a quarantined job may be offered. */
const quarantineRetryMs = 20;

/**
 * Milliseconds within which a worker must claim a job with a large body after its ticket was sent straight to the worker. Afterwards, the
 * job's tickets are published.
 */
const maxClaimMs = 50;

export interface JobPlacerDependencies {
  broker: Broker;
  workers: LiveWorkers;
  jobs: JobTable;
  tickets: Tickets;
  link: WorkerLink;
  jetStreamProxy: JetStreamProxy;
  quarantine: Quarantine;
  /** Searches again for a worker for a waiting job, after this many milliseconds. */
  reviewLater: (job: Job, ms: number) => void;
}

/**
 * Finds a worker for each job: offers the job to a waiting worker, or publishes tickets and answers claims. At most one worker has a job at
 * a time.
 */
export class JobPlacer {
  readonly #dependencies: JobPlacerDependencies;

  constructor(dependencies: JobPlacerDependencies) {
    this.#dependencies = dependencies;
  }

  /** Offers a job to a worker that is known to wait for one. If there is none, publishes tickets for it. */
  place(job: Job): void {
    const { tickets, link } = this.#dependencies;
    const placements = rankPlacements(job);
    const offer = this.#chooseOffer(job, placements);
    if (!offer && this.#isOnlyQuarantined(job, placements)) return this.#waitForQuarantine(job);
    if (!offer) return tickets.place(job, placements);
    if (isLarge(job)) return this.#sendTicket(job, placements, offer);
    const attempt = new Attempt(offer.worker, offer.placement, true);
    link.offer(job, attempt, offer, this.#beginAttempt(job, attempt));
  }

  /**
   * Offers a job that waits in the queue, because no job of its lane is claimed; JetStream may have no leader.
   * @returns false if no worker is known to wait for a job
   */
  offerWaiting(job: Job): boolean {
    const { link } = this.#dependencies;
    const offer = isLarge(job) ? undefined : this.#chooseOffer(job, rankPlacements(job), true);
    if (!offer) return false;
    const attempt = new Attempt(offer.worker, offer.placement, true);
    const context = this.#beginAttempt(job, attempt);
    // The next job in line gets a ticket of its own, and can then be offered.
    job.tickets.withdrawAll(true);
    link.offer(job, attempt, offer, context);
    return true;
  }

  /** Sends a ticket of a waiting job straight to a worker, at most once a second. The worker claims the job as with any other ticket. */
  handOver(job: Job): void {
    const { broker, link, quarantine } = this.#dependencies;
    if (!broker.connected || !job.tickets.tryHandOver(performance.now())) return;
    const recipient = chooseRecipient(job, (worker) => quarantine.mayTake(worker, job));
    if (recipient) link.sendTicket(job, recipient);
  }

  /** Sends a ticket straight to a worker instead of an offer, because a refused offer of a large body would cost more than it saves. */
  #sendTicket(job: Job, placements: Placement[], offer: Offer): void {
    const { tickets, link, reviewLater } = this.#dependencies;
    if (!job.tickets.tryHandOver(performance.now())) return tickets.place(job, placements);
    job.recordWorkerSearch(true);
    link.sendTicket(job, offer);
    reviewLater(job, maxClaimMs);
  }

  /** Handles a refused offer: the worker has no free slot any more, must first look for tickets in its lanes, or is lost. */
  onRefusal(job: Job): void {
    const { attempt } = job;
    // A worker that has confirmed the job cannot refuse it any more.
    if (!attempt?.isOffered || attempt.isConfirmed) return;
    attempt.worker.stopOffers();
    this.#dependencies.jobs.endAttempt(job);
    job.recordRefusal();
    this.place(job);
  }

  /** Handles a claim. The claim's subject names the worker, and the answer goes only to an inbox of that worker. */
  onClaim({ subject, data, reply: replyTo = '' }: Msg): void {
    const { broker, jobs, tickets, link, jetStreamProxy, quarantine } = this.#dependencies;
    const claim = decodeClaim(data);
    const address = parseWorkerAddress(subject);
    if (!claim || !address || !isOwnInbox(broker.subjects, address, replyTo)) return;
    const job = jobs.get(claim.job);
    const worker = this.#findClaimant(address, replyTo);
    const mayTake = !job || !worker || quarantine.mayTake(worker, job);
    const verdict = mayTake ? judgeClaim(job, worker, claim.v) : 'later';
    const choice = worker && this.#chooseJob(job, verdict, worker, claim);
    if (choice) {
      const attempt = new Attempt(worker, choice.placement, false);
      const context = this.#beginAttempt(choice.job, attempt);
      choice.job.tickets.withdraw(worker.pool, choice.job === job);
      choice.job.tickets.withdrawAll();
      link.grant(choice.job, attempt, { v: claim.v, replyTo }, context);
      // If the claim got another job, the ticket's own job still waits and needs the ticket.
      const isGivenBack = job?.state === 'queued' && choice.job !== job;
      return jetStreamProxy.ack(address, claim.ticket, isGivenBack ? 'back' : 'done');
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
   * Finds the worker that claims; undefined if it is not known. The claim may come from a process that has just replaced the announced one.
   * That claim is refused, because a job that is granted under the old announcement would count as lost when the old process counts as
   * lost.
   */
  #findClaimant(address: WorkerAddress, replyTo: string): LiveWorker | undefined {
    const { broker, workers } = this.#dependencies;
    const worker = workers.findByAddress(address);
    const { offersAt } = worker?.announcement ?? {};
    const isFromAnother = offersAt !== undefined && !belongToSameProcess(broker.subjects, address, offersAt, replyTo);
    return isFromAnother ? undefined : worker;
  }

  /**
   * Chooses the job that the claim gets, and its placement: the next job in line in the lane of the claim's ticket, whether the ticket's
   * own job still waits or not. Returns undefined if the claim is refused.
   * @param claimed the ticket's own job
   */
  #chooseJob(
    claimed: Job | undefined,
    verdict: Verdict,
    worker: LiveWorker,
    { v, ticket }: Claim,
  ): { job: Job; placement: Placement } | undefined {
    const { tickets, quarantine } = this.#dependencies;
    const mayTake = (other: Job): boolean =>
      quarantine.mayTake(worker, other) && typeof judgeClaim(other, worker, v) !== 'string';
    let job: Job | undefined;
    if (claimed && typeof verdict !== 'string') {
      if (ticket === noAckSubject) return { job: claimed, placement: verdict };
      job = tickets.getLane(worker.pool, claimed.request.class).chooseJobForTicket(claimed, mayTake);
      if (job === claimed) return { job, placement: verdict };
    } else if (verdict === 'taken' || !claimed) {
      const priority = readTicketClass(ticket, worker.pool.pool);
      job = priority && tickets.getLane(worker.pool, priority).chooseJobForSpareTicket(mayTake);
    }
    const placement = job && judgeClaim(job, worker, v);
    return job && placement && typeof placement !== 'string' ? { job, placement } : undefined;
  }

  /** Whether the quarantine is the only reason why the job cannot be offered to a worker now. The quarantine ends within a moment. */
  #isOnlyQuarantined(job: Job, placements: readonly Placement[]): boolean {
    const { broker, quarantine } = this.#dependencies;
    if (!quarantine.isWaiting(job) || !broker.connected || job.refusals >= maxRefusals) return false;
    return chooseOffer(job, placements, () => true) !== undefined;
  }

  /**
   * Lets a job wait for the end of the quarantine without tickets, because a claim with a ticket would take longer, and would delay the
   * jobs behind it.
   */
  #waitForQuarantine(job: Job): void {
    job.recordWorkerSearch(true);
    this.#dependencies.reviewLater(job, quarantineRetryMs);
  }

  #chooseOffer(job: Job, placements: readonly Placement[], hasWaited = false): Offer | undefined {
    const { broker, quarantine } = this.#dependencies;
    if (!broker.connected || job.refusals >= maxRefusals) return undefined;
    return chooseOffer(job, placements, (worker) => quarantine.mayTake(worker, job), hasWaited);
  }

  /** Records that a job is granted or offered. Returns the trace context for the worker. */
  #beginAttempt(job: Job, attempt: Attempt): ReturnType<Job['beginAttempt']> {
    const context = job.beginAttempt(attempt);
    this.#dependencies.jobs.recordAttempt(job, attempt);
    this.#dependencies.quarantine.recordGiven(attempt.worker, job);
    return context;
  }
}

/** Whether the payload of a job does not fit into one message with the grant. */
function isLarge({ payload }: Job): boolean {
  return payload.length > bodyPartBytes;
}

import { bodyPartBytes } from '../../contract/claim.ts';
import { Attempt } from '../attempt.ts';
import type { DispatchContext } from '../dispatch-context.ts';
import type { Job } from '../job.ts';
import type { OfferedEvent } from '../job-event.ts';
import type { Tickets } from '../queue/tickets.ts';
import type { Placement } from '../workers/live-pool.ts';
import { chooseOffer, type Offer } from './choose-offer.ts';
import { chooseRecipient } from './choose-recipient.ts';
import { rankPlacements } from './placements.ts';

/** Number of refused offers after which a job gets no further offers, and waits for its tickets to be claimed. */
const maxRefusals = 2;

/** Milliseconds until the next check whether a quarantined job may be offered. */
const quarantineRetryMs = 20;

/**
 * Milliseconds within which a worker must claim a job with a large body after its ticket was sent straight to the worker. Afterwards, the
 * job's tickets are published.
 */
const maxClaimMs = 50;

/** Chooses a waiting worker for each job. If there is none, lets the job wait with tickets, which workers claim, see `Claims`. */
export class JobPlacer {
  readonly #context: DispatchContext;
  readonly #tickets: Tickets;
  readonly #reviewLater: (job: Job, delayMs: number) => void;

  /** @param reviewLater searches again for a worker for a waiting job, after this many milliseconds */
  constructor(context: DispatchContext, tickets: Tickets, reviewLater: (job: Job, delayMs: number) => void) {
    this.#context = context;
    this.#tickets = tickets;
    this.#reviewLater = reviewLater;
  }

  /**
   * Chooses a worker that is known to wait for a job. If there is none, publishes tickets for the job.
   * @returns the event of the offer to that worker; undefined if the job waits
   */
  place(job: Job): OfferedEvent | undefined {
    const placements = rankPlacements(job);
    const offer = this.#chooseOffer(job, placements);
    if (offer && !isLarge(job)) return createOfferedEvent(offer);
    if (offer) this.#sendTicket(job, placements, offer);
    else if (this.#isOnlyQuarantined(job, placements)) this.#waitForQuarantine(job);
    else this.#tickets.place(job, placements);
    return undefined;
  }

  /**
   * Chooses a worker for a job that waits in the queue while no job of its lane is claimed. JetStream may have no leader.
   * @returns the event of the offer; undefined if no worker is known to wait for a job
   */
  placeWaiting(job: Job): OfferedEvent | undefined {
    const offer = isLarge(job) ? undefined : this.#chooseOffer(job, rankPlacements(job), true);
    return offer && createOfferedEvent(offer);
  }

  /** Sends a ticket of a waiting job straight to a worker, at most once a second. The worker claims the job as with any other ticket. */
  handOver(job: Job): void {
    const { broker, link, quarantine } = this.#context;
    if (!broker.connected || !job.tickets.tryHandOver(performance.now())) return;
    const recipient = chooseRecipient(job, (worker) => quarantine.mayTake(worker, job));
    if (recipient) link.sendTicket(job, recipient);
  }

  /** Sends a ticket straight to a worker instead of an offer, because a refused offer of a large body would cost more than it saves. */
  #sendTicket(job: Job, placements: Placement[], offer: Offer): void {
    if (!job.tickets.tryHandOver(performance.now())) return this.#tickets.place(job, placements);
    job.recordWorkerSearch(true);
    this.#context.link.sendTicket(job, offer);
    this.#reviewLater(job, maxClaimMs);
  }

  /** Whether the quarantine is the only reason why the job cannot be offered to a worker now. The quarantine ends within a moment. */
  #isOnlyQuarantined(job: Job, placements: readonly Placement[]): boolean {
    const { broker, quarantine } = this.#context;
    if (!quarantine.isWaiting(job) || !broker.connected || job.refusals >= maxRefusals) return false;
    return chooseOffer(job, placements, () => true) !== undefined;
  }

  /**
   * Lets a job wait for the end of the quarantine without tickets, because a claim with a ticket would take longer, and would delay the
   * jobs behind it.
   */
  #waitForQuarantine(job: Job): void {
    job.recordWorkerSearch(true);
    this.#reviewLater(job, quarantineRetryMs);
  }

  #chooseOffer(job: Job, placements: readonly Placement[], hasWaited = false): Offer | undefined {
    const { broker, quarantine } = this.#context;
    if (!broker.connected || job.refusals >= maxRefusals) return undefined;
    return chooseOffer(job, placements, (worker) => quarantine.mayTake(worker, job), hasWaited);
  }
}

function createOfferedEvent({ worker, placement, subject, v }: Offer): OfferedEvent {
  return { type: 'offered', attempt: new Attempt(worker, placement, true), to: { subject, v } };
}

/** Whether the payload of a job does not fit into one message with the grant. */
function isLarge({ payload }: Job): boolean {
  return payload.length > bodyPartBytes;
}

import type { JobConditions } from './job-conditions.ts';
import type { JobEffects } from './job-effects.ts';
import type { FailureEvent, JobEvent, JobState, PlainEvent } from './job-event.ts';

type EventType = JobEvent['type'];

/** The names of the conditions or effects that accept this event. */
type NameFor<Event extends JobEvent, Functions> = {
  [Name in keyof Functions]: Functions[Name] extends (...parameters: infer Parameters) => unknown
    ? Parameters extends [unknown, infer Needed, ...unknown[]]
      ? Event extends Needed
        ? Name
        : never
      : Name
    : never;
}[keyof Functions];

/** One row of the table. */
export interface Rule<Event extends JobEvent = JobEvent> {
  /** The states in which the rule applies. */
  in: readonly JobState[];
  /** Further conditions that must hold. */
  if?: readonly NameFor<Event, JobConditions>[];
  /** The next state; default: the state stays the same. */
  to?: JobState;
  /** The effects, in this order. */
  do?: readonly NameFor<Event, JobEffects>[];
  /** A further type, as which the event is handled again after `do`. The conditions of that type's rules are tested anew. */
  as?: PlainEvent['type'] | (Event extends FailureEvent ? FailureEvent['type'] : never);
}

type EventOf<Type extends EventType> = JobEvent extends infer Event
  ? Event extends { type: infer Types }
    ? Type extends Types
      ? Event
      : never
    : never
  : never;

const queued = ['queued'] as const;
const claimed = ['claimed'] as const;
const atWorker = ['claimed', 'streaming'] as const;
const active = ['queued', 'claimed', 'streaming'] as const;

/**
 * The life of a job: the rules for each type of event. The first rule with matching states and conditions applies. If no rule matches,
 * nothing happens. `JobMachine` applies the rules.
 */
// prettier-ignore
export const jobLife: { readonly [Type in EventType]: readonly Rule<EventOf<Type>>[] } = {
  // A worker gets the job.
  accepted: [{ in: queued, do: ['place'] }],
  offered: [{ in: queued, to: 'claimed', do: ['beginAttempt', 'sendOffer'] }],
  granted: [{ in: queued, to: 'claimed', do: ['beginAttempt', 'sendGrant'] }],
  offerRefused: [{ in: claimed, if: ['isOfferOpen'], to: 'queued', do: ['stopOffers', 'takeBackOffer', 'place'] }],
  offerIgnored: [
    { in: claimed, if: ['hasEarlierDeath'], do: ['requestFrames'] },
    { in: claimed, if: ['isSilent', 'isBodyRefused'], to: 'failed', do: ['recordDeath', 'cancelAttempt', 'failAsRefused'] },
    { in: claimed, if: ['isSilent'], do: ['recordDeath', 'cancelAttempt'], as: 'offerRefused' },
    { in: claimed, do: ['cancelAttempt'], as: 'offerRefused' },
  ],

  // The worker answers.
  answerBegan: [{ in: claimed, to: 'streaming', do: ['beginAnswer'] }],
  keepAliveDue: [{ in: active, do: ['keepAlive'] }],
  ended: [{ in: atWorker, to: 'done', do: ['complete'] }],

  // The worker reports an error, or takes too long. The worker is judged first, because the judgement decides whether another worker may
  // serve the job.
  workerFailed: [
    { in: atWorker, if: ['cannotContinue'], to: 'failed', do: ['failContinuation'] },
    { in: atWorker, do: ['judgeWorker'], as: 'attemptFailed' },
  ],
  timedOut: [
    { in: queued, to: 'failed', do: ['fail'] },
    { in: atWorker, do: ['cancelAttempt', 'judgeWorker'], as: 'attemptFailed' },
  ],
  attemptFailed: [
    { in: atWorker, if: ['isMovable', 'mayMove', 'canOthersServe'], to: 'queued', do: ['avoidWorker', 'loseAttempt', 'place'] },
    { in: atWorker, to: 'failed', do: ['fail'] },
  ],
  // The first token of an ejected worker is late. A worker that does not answer a request for frames may be dead; another event handles
  // that.
  tokenLate: [
    { in: claimed, if: ['mayMove', 'hasNoEarlierDeath', 'hasNotJustAnswered'], do: ['requestFrames'] },
    { in: claimed, if: ['mayMove', 'hasNoEarlierDeath', 'canOthersServe'], as: 'timedOut' },
  ],
  framesDue: [{ in: atWorker, do: ['requestFrames'] }],

  // The worker is lost.
  workerLost: [
    { in: atWorker, if: ['mayMove'], to: 'queued', do: ['countReturn', 'cancelAttempt', 'avoidWorker', 'loseAttempt', 'place'] },
    { in: atWorker, to: 'failed', do: ['countReturn', 'cancelAttempt', 'fail'] },
  ],
  // A second death ends the job, because the job may have killed both workers. First, the earlier death is checked, even before
  // `neverHadJob`: a request that has killed a worker may kill the next worker before that worker confirms the offer.
  workerDied: [
    { in: atWorker, if: ['canMove', 'hasEarlierDeath'], do: ['checkEarlierDeath'] },
    { in: claimed, if: ['neverHadJob'], as: 'offerRefused' },
    { in: atWorker, if: ['isBodyRefused'], to: 'failed', do: ['recordDeath', 'cancelAttempt', 'failAsRefused'] },
    { in: atWorker, do: ['recordDeath'], as: 'workerLost' },
  ],
  // A closed connection usually means that the worker is dead, seconds before its missing heartbeats show it.
  workerDisconnected: [
    { in: atWorker, if: ['mayMove', 'hasNoEarlierDeath', 'canOthersServe'], do: ['stopOffers'], as: 'workerDied' },
    { in: atWorker, if: ['mayMove', 'hasNoEarlierDeath'], do: ['stopOffers'] },
  ],

  // The job waits.
  stillWaiting: [{ in: queued, do: ['maintainTickets'] }],
  workersChanged: [{ in: queued, do: ['reviewTickets'] }],
  waitOver: [
    { in: queued, if: ['hasNoTicket'], do: ['place'] },
    { in: queued, do: ['reviewTickets'] },
  ],

  // The client, or the owner of the job, does not want the answer any more.
  clientLeft: [{ in: active, to: 'cancelled', do: ['cancelAttempt', 'cancel'] }],
  abandoned: [{ in: active, to: 'failed', do: ['cancelAttempt', 'fail'] }],
};

import type { ContinuationFailure, RouterError } from '#shared/core/errors.ts';
import type { JobEnd } from '../contract/job-contract.ts';
import type { Attempt } from './attempt.ts';
import type { DeathEvidence } from './deaths/death.ts';

/**
 * The states of a job in its dispatcher. `queued`: it waits for a worker. `claimed`: a worker has it, by an offer or by a claim, and the
 * client has got nothing from that worker. `streaming`: the client has got a part of the answer from that worker, and more comes.
 */
export type JobState = 'queued' | 'claimed' | 'streaming' | 'done' | 'failed' | 'cancelled';

/** The job, which must be queued, is offered to a worker. */
export interface OfferedEvent {
  type: 'offered';
  attempt: Attempt;
  /** The worker's subject for offers, and the version of the contract to use. */
  to: { subject: string; v: number };
}
/** The job, which must be queued, is granted to a worker that has sent a claim. */
export interface GrantedEvent {
  type: 'granted';
  attempt: Attempt;
  /** The inbox of the worker that has claimed the job, and the version of the contract that the claim uses. */
  to: { replyTo: string; v: number };
}

/** The worker has sent the whole answer, and the client has got it. */
export interface EndedEvent {
  type: 'ended';
  end: JobEnd;
}

/** An event that ends the job with `error`, unless the job goes to another worker. */
export interface FailureEvent {
  type:
    /** The worker reports an error. */
    | 'workerFailed'
    | 'timedOut'
    /** Follows `workerFailed` or `timedOut` once the worker is judged. */
    | 'attemptFailed'
    /** The first token of an ejected worker is far later than the first tokens of its peers. */
    | 'tokenLate'
    /** The worker has left, or does not have the job, but lives. */
    | 'workerLost'
    /** The worker is dead, or as silent as a dead one. */
    | 'workerDied'
    /** The worker's connection to the broker is closed. */
    | 'workerDisconnected'
    /** The owner of the job ends it. */
    | 'abandoned';
  error: RouterError;
  /** Whether the worker itself reports the error. */
  isReported?: boolean | undefined;
  /** Whether the worker reports that it never began the job. */
  isUnbegun?: boolean | undefined;
  /** Whether the worker itself reports that it does not have the job. */
  isReturned?: boolean | undefined;
  /** Why the worker cannot continue the stream, if the worker reports it. */
  failure?: ContinuationFailure | undefined;
  /** The evidence that the worker is dead; undefined if it is only silent. */
  evidence?: DeathEvidence;
}

export interface PlainEvent {
  type:
    | 'accepted'
    /** The worker has refused the offer, or cannot have accepted it. */
    | 'offerRefused'
    /** The worker has sent no frame for too long after the offer. */
    | 'offerIgnored'
    /** The first piece of a streamed answer has come from this worker. */
    | 'answerBegan'
    /** The client of a stream has got nothing for a while. */
    | 'keepAliveDue'
    /** The worker has sent no frame for a while. */
    | 'framesDue'
    /** The sweep has found the job in the queue. */
    | 'stillWaiting'
    /** Workers have come, left or changed. */
    | 'workersChanged'
    /** The time that the placer set for a waiting job is over. */
    | 'waitOver'
    | 'clientLeft';
}

export type JobEvent = OfferedEvent | GrantedEvent | EndedEvent | FailureEvent | PlainEvent;

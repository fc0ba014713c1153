/**
 * The states of a job in its dispatcher:
 *
 * ```
 * queued ──claim──▶ claimed ──output──▶ streaming ──end──▶ done
 *   ▲      offer      │ │                   │
 *   │                 │ └─────────end───────┼──────────────▶ done
 *   ├──lose, refuse───┘                     │
 *   └──────────────lose─────────────────────┘   any of the three ──fail──▶ failed, ──cancel──▶ cancelled
 * ```
 *
 * If a worker is known to wait, the job is offered to that worker; otherwise a worker claims one of the job's tickets. `streaming` means
 * that the client has seen a part of the answer, and more comes. A streaming job goes back to the queue only if another worker can continue
 * exactly where the answer stopped (see `StreamContinuation`).
 */
export type JobState = 'queued' | 'claimed' | 'streaming' | 'done' | 'failed' | 'cancelled';
export type JobEvent = 'claim' | 'offer' | 'refuse' | 'output' | 'lose' | 'end' | 'fail' | 'cancel';

const transitions: Record<JobState, Partial<Record<JobEvent, JobState>>> = {
  queued: { claim: 'claimed', offer: 'claimed', fail: 'failed', cancel: 'cancelled' },
  claimed: {
    output: 'streaming',
    lose: 'queued',
    refuse: 'queued',
    end: 'done',
    fail: 'failed',
    cancel: 'cancelled',
  },
  streaming: { lose: 'queued', end: 'done', fail: 'failed', cancel: 'cancelled' },
  done: {},
  failed: {},
  cancelled: {},
};

/**
 * Returns the state after an event.
 * @throws Error for an event that the state does not allow, which is a bug
 */
export function nextState(state: JobState, event: JobEvent): JobState {
  const next = transitions[state][event];
  if (next === undefined) throw new Error(`a ${state} job cannot ${event}`);
  return next;
}

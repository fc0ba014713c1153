import { RouterError, toRouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { JobConditions } from './job-conditions.ts';
import type { JobEffects } from './job-effects.ts';
import type { Job } from './job.ts';
import type { JobEvent } from './job-event.ts';
import { jobLife, type Rule } from './job-life.ts';

/** The events that a dispatcher raises only if the job's state allows them. In another state they are a bug. */
const guardedEvents: ReadonlySet<JobEvent['type']> = new Set(['offered', 'granted', 'answerBegan', 'ended']);

/** Applies `jobLife` to the jobs of a dispatcher. Nothing else changes the state of a job. */
export class JobMachine {
  readonly #conditions: JobConditions;
  readonly #effects: JobEffects;
  readonly #log: Logger;

  constructor(conditions: JobConditions, effects: JobEffects, log: Logger) {
    this.#conditions = conditions;
    this.#effects = effects;
    this.#log = log;
  }

  /** Applies an event to a job. An error that is thrown meanwhile, for example by the job's sink, ends this job and no other. */
  raise(job: Job, event: JobEvent): void {
    try {
      this.#apply(job, event);
    } catch (error) {
      this.onThrown(job, error);
    }
  }

  #apply(job: Job, event: JobEvent): void {
    const now = performance.now();
    const rule = this.#findRule(job, event, now);
    if (!rule) {
      if (!job.isOver && guardedEvents.has(event.type))
        throw new Error(`the event ${event.type} came to a ${job.state} job`);
      return;
    }
    if (rule.to !== undefined) job.enter(rule.to);
    for (const effect of rule.do ?? []) this.#effects[effect](job, event as never, now);
    assertInvariants(job);
    if (rule.as !== undefined) this.#apply(job, { ...event, type: rule.as } as JobEvent);
  }

  #findRule(job: Job, event: JobEvent, now: number): Rule | undefined {
    const rules: readonly Rule[] = jobLife[event.type];
    return rules.find(
      (rule) =>
        rule.in.includes(job.state) &&
        (rule.if ?? []).every((condition) => this.#conditions[condition](job, event as never, now)),
    );
  }

  /** Ends a job after an error was thrown during its handling. */
  onThrown(job: Job, thrown: unknown): void {
    const { requestId } = job.request;
    const facts = { err: thrown, requestId, traceId: job.traceId, state: job.state };
    // What is wrong with an answer is no failure of the router.
    if (!(thrown instanceof RouterError)) this.#log.error(facts, 'an error was thrown while a request was served');
    this.raise(job, { type: 'abandoned', error: toRouterError(thrown) });
  }
}

/** @throws Error if the job is in a state that no sequence of events may reach */
function assertInvariants({ state, isOver, attempt, attempts, hasBegun, tickets }: Job): void {
  const hasValidPlacement = isOver ? tickets.placed.size === 0 : (state === 'queued') === (attempt === undefined);
  if (hasValidPlacement && attempts >= 0 && (state !== 'streaming' || hasBegun)) return;
  const facts = { state, attempts, hasBegun, hasAttempt: attempt !== undefined, tickets: tickets.placed.size };
  throw new Error(`a job is in an impossible state: ${JSON.stringify(facts)}`);
}

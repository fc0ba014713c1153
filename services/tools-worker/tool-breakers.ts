import { Gauge, type Registry } from 'prom-client';
import type { ToolInfo } from '#shared/broker/contract/announcement.ts';
import type { JobEnd, JobHandler } from '#shared/broker/contract/job-contract.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { computeOpenMs, maxFailures } from '#shared/worker/circuit-breaker.ts';

interface ToolState {
  state: 'closed' | 'open' | 'half-open';
  failures: number;
  openings: number;
  timer: NodeJS.Timeout | undefined;
  /** The running call that will show whether the tool works again. */
  probe: Promise<CallOutcome> | undefined;
}

/**
 * Result of a call for the circuit breaker: `served`, an error if the tool's server failed, or `nothing` if the call ended for another
 * reason.
 */
type CallOutcome = 'served' | 'nothing' | RouterError;

/**
 * Limits the calls of each tool by a circuit breaker, which depends on the results of earlier calls. If a tool's server fails three calls
 * in a row, the tool is not announced for a while. Then the tool accepts one call at a time, a probe, until a probe is answered. Calls that
 * arrive during a probe wait for it and share its failure. Any answer of a tool, even an error, counts as an answer of its server. A call
 * that takes too long counts neither as answered nor as failed, because it may have asked for too much.
 *
 * States of a tool: closed → open → half-open → closed; half-open → open.
 */
export class ToolBreakers {
  readonly #log: Logger;
  readonly #onChange: () => void;
  /** Tools with failures since their last answer, by name. */
  readonly #toolStates = new Map<string, ToolState>();

  /** @param onChange called when the result of `selectAccepting` may change */
  constructor(log: Logger, onChange: () => void) {
    this.#log = log;
    this.#onChange = onChange;
  }

  /** The names of tools that accept no calls, or one at a time, because their server fails. */
  get failing(): string[] {
    return [...this.#toolStates].filter(([, { state }]) => state !== 'closed').map(([name]) => name);
  }

  /** Selects the tools that accept calls now. Returns the same array if all tools accept calls. */
  selectAccepting(tools: ToolInfo[]): ToolInfo[] {
    if (this.#toolStates.size === 0) return tools;
    return tools.filter(({ name }) => {
      const { state, probe } = this.#toolStates.get(name) ?? { state: 'closed' };
      return state === 'closed' || (state === 'half-open' && !probe);
    });
  }

  /** Wraps a handler to pass on only the calls that the circuit breakers permit, and to record the results of these calls. */
  limitCalls(handler: JobHandler): JobHandler {
    return async (job, reply, signal) => {
      const { model: name } = job;
      for (let probe = this.#toolStates.get(name)?.probe; probe; probe = this.#toolStates.get(name)?.probe) {
        const outcome = await Promise.race([probe, waitForAbort(signal)]);
        signal.throwIfAborted();
        if (outcome instanceof RouterError) throw outcome;
      }
      const failing = this.#toolStates.get(name);
      const probeOutcome = failing?.state === 'half-open' ? Promise.withResolvers<CallOutcome>() : undefined;
      if (failing && probeOutcome) {
        failing.probe = probeOutcome.promise;
        this.#onChange();
      }
      let outcome: CallOutcome = 'nothing';
      try {
        const end: JobEnd = await handler(job, reply, signal);
        outcome = 'served';
        return end;
      } catch (error) {
        if (!signal.aborted && error instanceof RouterError && error.code === 'upstream_failed') outcome = error;
        throw error;
      } finally {
        if (failing && probeOutcome) failing.probe = undefined;
        this.#recordOutcome(name, outcome, probeOutcome !== undefined);
        probeOutcome?.resolve(outcome);
      }
    };
  }

  close(): void {
    for (const { timer } of this.#toolStates.values()) clearTimeout(timer);
  }

  #recordOutcome(name: string, outcome: CallOutcome, isProbe: boolean): void {
    const failing = this.#toolStates.get(name) ?? this.#createToolState();
    if (outcome === 'served') this.#closeCircuit(name);
    else if (outcome === 'nothing') return isProbe ? this.#onChange() : undefined;
    else {
      this.#toolStates.set(name, failing);
      failing.failures += 1;
      if (isProbe || (failing.state === 'closed' && failing.failures >= maxFailures)) this.#openCircuit(name, failing);
    }
  }

  #createToolState(): ToolState {
    return { state: 'closed', failures: 0, openings: 0, timer: undefined, probe: undefined };
  }

  #closeCircuit(name: string): void {
    const failing = this.#toolStates.get(name);
    if (!failing) return;
    this.#toolStates.delete(name);
    clearTimeout(failing.timer);
    if (failing.state === 'closed') return;
    this.#log.info({ tool: name }, 'a tool works again: it takes calls');
    this.#onChange();
  }

  #openCircuit(name: string, failing: ToolState): void {
    failing.state = 'open';
    failing.openings += 1;
    const ms = computeOpenMs(failing.openings);
    this.#log.warn({ tool: name, ms: Math.round(ms) }, 'the server of a tool fails: it takes no calls for now');
    failing.timer = setTimeout(() => {
      failing.state = 'half-open';
      this.#onChange();
    }, ms);
    this.#onChange();
  }
}

function waitForAbort(signal: AbortSignal): Promise<'nothing'> {
  if (signal.aborted) return Promise.resolve('nothing');
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve('nothing'), { once: true }));
}

/** Adds the number of failing tools to a worker's metrics. */
export function addFailingToolsMetric(registry: Registry, failing: () => readonly string[]): void {
  const gauge: Gauge = new Gauge({
    name: 'rtr_failing_tools',
    help: 'Tools of a tools worker that take no calls, or one at a time, because their server fails',
    registers: [registry],
    collect: () => gauge.set(failing().length),
  });
}

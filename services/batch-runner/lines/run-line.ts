import { setTimeout as pause } from 'node:timers/promises';
import { RouterError, toRouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { AnswerMemory } from '../answer-memory.ts';
import { decideAfterError } from './decide-after-error.ts';
import { LineCharge } from './line-charge.ts';
import type { RefusedLines } from './refused-lines.ts';
import {
  tryLine,
  type Answer,
  type LineRequest,
  type LineStops,
  type TryLineParts,
  type TryResources,
} from './try-line.ts';

export interface RunLineParts extends TryLineParts {
  refusedLines: RefusedLines;
  /**
   * Largest number of tries of a line. Tries that fail because workers, limits or stores are missing do not count. The error of the last
   * try becomes the result.
   */
  maxTries: number;
  log: Logger;
}

/**
 * How a line ended. `over`: the line has a result; once it is recorded, the caller commits `charge` and releases `memory`. `pause`: the
 * batch must pause. `stopped`: a signal has stopped the line.
 */
export type LineEnd =
  | { kind: 'over'; answer: Answer; charge: LineCharge; memory: AnswerMemory }
  | { kind: 'pause'; ms: number; reason: string }
  | { kind: 'stopped' };

/**
 * Runs one line until it has a result. Waits for a free slot, and serves the line as a request of the lowest class. Tries the line again
 * after errors that are not specific to the line, and after errors that another try may avoid.
 */
export async function runLine(parts: RunLineParts, line: LineRequest, stops: LineStops): Promise<LineEnd> {
  for (let countedTries = 0; !stops.waiting.aborted;) {
    await awaitLimit(parts, line, stops.waiting);
    const charge = new LineCharge(parts.limits, parts.priceOf);
    const memory = new AnswerMemory(parts.answerBudget);
    const answer = await runOnce(parts, line, { charge, memory }, stops);
    if (!answer || stops.running.aborted) {
      charge.release();
      memory.release();
      break;
    }
    if ('error' in answer && answer.error.code === 'internal') logInternalError(parts.log, line, answer.error);
    const decision = 'error' in answer ? decideAfterError(answer.error) : finalDecision;
    if (decision.kind === 'again' && decision.counts) countedTries += 1;
    if (decision.kind === 'final' || countedTries >= parts.maxTries) {
      parts.refusedLines.remove(line.requestId);
      return { kind: 'over', answer, charge, memory };
    }
    charge.release();
    memory.release();
    if (decision.kind === 'pause' && 'error' in answer)
      return { kind: 'pause', ms: decision.ms, reason: answer.error.message };
    if ('error' in answer && answer.refusedFor !== undefined)
      parts.refusedLines.noteRefusal(line.requestId, answer.refusedFor, answer.error);
    else if (decision.kind === 'again') {
      line.onWait();
      await waitFor(decision.afterMs, stops.waiting);
      line.onGoOn();
    }
  }
  return { kind: 'stopped' };
}

const finalDecision = { kind: 'final' } as const;

/** Logs the cause of an internal error, because the result of the line does not contain it. */
function logInternalError(log: Logger, { place: { id: batch, slice, line } }: LineRequest, error: RouterError): void {
  log.warn({ batch, slice, line, err: error.cause ?? error }, 'the router failed in a line of a batch');
}

/** Waits until the limit of the upstream that refused the line is over. Other lines of the slice continue. */
async function awaitLimit({ refusedLines }: RunLineParts, line: LineRequest, signal: AbortSignal): Promise<void> {
  const limit = refusedLines.findLimit(line.requestId);
  if (!limit) return;
  line.onPlaced();
  line.onWait(() => ({ placements: [], tiers: [], limit }));
  await waitFor(limit.until - Date.now(), signal);
  line.onGoOn();
}

/**
 * Tries the line once.
 * @returns undefined if a signal aborts before the end
 */
async function runOnce(
  parts: RunLineParts,
  line: LineRequest,
  resources: TryResources,
  stops: LineStops,
): Promise<Answer | undefined> {
  let hadEffects = false;
  const onEffects = (): void => {
    hadEffects = true;
  };
  const answer = await tryLine(parts, line, resources, stops, onEffects).catch((error: unknown): Answer => ({
    error: toRouterError(error),
  }));
  return answer && hadEffects && 'error' in answer ? { ...answer, error: answer.error.withEffects() } : answer;
}

async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await pause(ms, undefined, { signal }).catch(() => undefined);
}

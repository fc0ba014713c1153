import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import type { Engine } from './engine.ts';
import type { AnswerFacts } from './engine-state.ts';
import type { ReplyEnding } from './reply/reply.ts';
import { sendError } from './reply/send-json.ts';
import type { DemoOptions } from './request/demo-options.ts';

export interface AnswerStart {
  facts: Omit<AnswerFacts, 'completion_tokens' | 'ended'>;
  demo: DemoOptions;
  response: ServerResponse;
  signal: AbortSignal;
}

/**
 * Waits for a slot, counts the answer, and sends it. If the demo options request an error, sends the error instead.
 * @throws RouterError `overloaded`; the signal's reason when the client disconnects; the errors of `send`
 */
export async function answerWithSlot(
  engine: Engine,
  { facts: startFacts, demo, response, signal }: AnswerStart,
  send: (facts: AnswerFacts) => Promise<ReplyEnding>,
): Promise<void> {
  const releaseSlot = await engine.slots.take(signal);
  const facts = engine.state.begin(startFacts);
  let ending: ReplyEnding | 'aborted' = 'faulted';
  try {
    const refusal = findRefusal(demo);
    if (refusal) {
      await sleep(demo.first_token_delay_ms, undefined, { signal });
      sendError(response, refusal);
    } else ending = await send(facts);
  } catch (error) {
    if (signal.aborted) ending = 'aborted';
    throw error;
  } finally {
    engine.state.end(facts, ending);
    releaseSlot();
  }
}

function findRefusal({ fault, retry_after: retryAfter }: DemoOptions): RouterError | undefined {
  if (fault === '429') return new RouterError('rate_limit_exceeded', 'Too many requests, on demand.', { retryAfter });
  if (fault === '500') return new RouterError('internal', 'The demo engine failed on demand.', { retryAfter });
  if (fault === '503') return new RouterError('overloaded', 'Overloaded, on demand.', { retryAfter });
  return undefined;
}

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { takeFirstTokens, countTokensOfSteps, type Step } from '../answer/plan-answer.ts';
import type { Piece } from '../answer/split-into-tokens.ts';
import { synthesizeTone, createWavHeader } from '../media/synthesize-tone.ts';
import type { DemoOptions } from '../request/demo-options.ts';
import { timeSteps } from './time-steps.ts';
import { hang, type ReplyEnding } from './reply.ts';

/**
 * Streams pieces of a text as sound, no faster than the client reads. Applies the fault that the options request. Every fault that breaks a
 * stream closes the connection, because sound cannot contain an error.
 * @param onSent called with the number of tokens of the pieces that were sent
 * @throws the signal's reason as soon as the client disconnects
 */
export async function streamSound(
  pieces: readonly Piece[],
  demo: DemoOptions,
  onSent: (tokens: number) => void,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<ReplyEnding> {
  const allSteps = pieces.map(({ text, tokens }): Step => ({ delta: { kind: 'content', text }, tokens }));
  const isBroken = demo.fault !== 'none' && demo.fault !== 'no_usage';
  response.writeHead(200, { 'content-type': 'audio/wav' });
  response.write(createWavHeader());
  const steps = isBroken ? takeFirstTokens(allSteps, demo.fault_after_tokens) : allSteps;
  for await (const dueSteps of timeSteps(steps, demo, signal)) {
    const sound = dueSteps.map(({ delta }) => synthesizeTone(delta.kind === 'tool_call' ? '' : delta.text));
    if (!response.write(Buffer.concat(sound))) await once(response, 'drain', { signal });
    onSent(countTokensOfSteps(dueSteps));
  }
  if (demo.fault === 'hang') await hang(response, signal);
  else if (isBroken) {
    // The connection closes after a flush, because closing discards buffered data.
    await new Promise((resolve) => response.write(Buffer.of(0), resolve));
    response.destroy();
  } else response.end();
  return isBroken ? 'faulted' : 'finished';
}

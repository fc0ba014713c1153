import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { firstTokens, tokensOf, type Step } from '../answer/plan-answer.ts';
import type { Piece } from '../answer/split-into-tokens.ts';
import { synthesizeTone, wavHeader } from '../media/synthesize-tone.ts';
import type { DemoOptions } from '../request/demo-options.ts';
import { timeSteps } from './pace-steps.ts';
import { hang, type ReplyEnding } from './reply.ts';

/**
 * Streams pieces of a text as sound, no faster than the client reads and with its fault, if it has one. Every fault that breaks a stream
 * closes the connection, because sound cannot contain an error.
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
  const all = pieces.map(({ text, tokens }): Step => ({ delta: { kind: 'content', text }, tokens }));
  const breaks = demo.fault !== 'none' && demo.fault !== 'no_usage';
  response.writeHead(200, { 'content-type': 'audio/wav' });
  response.write(wavHeader());
  const steps = breaks ? firstTokens(all, demo.fault_after_tokens) : all;
  for await (const due of timeSteps(steps, demo, signal)) {
    const sound = due.map(({ delta }) => synthesizeTone(delta.kind === 'tool_call' ? '' : delta.text));
    if (!response.write(Buffer.concat(sound))) await once(response, 'drain', { signal });
    onSent(tokensOf(due));
  }
  if (demo.fault === 'hang') await hang(response, signal);
  else if (breaks) {
    // Closes only after everything before is flushed, because closing discards buffered data.
    await new Promise((resolve) => response.write(Buffer.of(0), resolve));
    response.destroy();
  } else response.end();
  return breaks ? 'faulted' : 'finished';
}

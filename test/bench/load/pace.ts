import { z } from 'zod';
import { upstreamModel } from '../upstream/upstream-bytes.ts';

/** How the fake upstream is to answer. */
export interface Pace {
  /** Milliseconds until the first token, or until a whole answer. */
  firstMs: number;
  /** Milliseconds between two tokens of a stream; 0 sends all of them at once. */
  everyMs: number;
  /** Tokens of a stream. */
  tokens: number;
}

const paceSchema = z.looseObject({
  stream: z.boolean(),
  bench_pace: z.looseObject({ firstMs: z.number(), everyMs: z.number(), tokens: z.number() }),
});

const system = `You are the assistant of a small shop for musical instruments. Answer in the customer's language, in two or
three sentences, and name prices with tax. When you are not sure that an article is in stock, say so and offer to ask.`;

/** The turns of an everyday chat request, of about 900 bytes; the first says how to answer. */
export const everydayMessages = [
  { role: 'system', content: system },
  { role: 'user', content: 'Hello! I play the violin and look for a bow for about 300 euros.' },
  {
    role: 'assistant',
    content: 'Gladly! We have two carbon bows at 279 € and 315 €. Do you play orchestra or solo?',
  },
  { role: 'user', content: 'Mostly orchestra. Could I try both, and would you take my old bow in part exchange?' },
] as const;

/** A chat request of everyday size; its pace travels with it, as a field that nobody else knows. */
export function paceRequest(stream: boolean, pace: Pace): string {
  return JSON.stringify({
    model: upstreamModel,
    messages: everydayMessages,
    temperature: 0.7,
    max_tokens: 256,
    stream,
    bench_pace: pace,
  });
}

/** Reads the pace back from a request's body. */
export function readPace(body: Buffer): Pace & { stream: boolean } {
  const { stream, bench_pace: pace } = paceSchema.parse(JSON.parse(body.toString()));
  return { stream, ...pace };
}

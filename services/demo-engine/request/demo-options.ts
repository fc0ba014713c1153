/**
 * How an answer is made on demand: its pace, its length, its faults, its dialect.
 *
 * Three places may say so; a later one in this list wins, field by field:
 * 1. the engine's settings: `DEMO_FIRST_TOKEN_DELAY_MS`, `DEMO_TOKENS_PER_SECOND`, and `DEMO_OPTIONS` in the words of 2;
 * 2. a line of its own in the last user text, for clients that cannot add fields: `[demo fault=drop after=5]`. Besides the
 *    field names it takes the short forms `delay`, `rate`, `tokens` and `after`. It is not read when 3 is there;
 * 3. a field `demo` of the request's body, `{"demo": {"fault": "drop", "fault_after_tokens": 5}}` (`extra_body` in the
 *    Python SDK; in TypeScript the field stands beside the others).
 *
 * Pace and length
 * - `first_token_delay_ms` (`delay`): milliseconds before the first token. The headers of a stream leave before it.
 * - `tokens_per_second` (`rate`): 0 is as fast as possible.
 * - `answer_tokens` (`tokens`): the text is filler of exactly so many tokens, and no tool is called.
 *
 * Faults (`fault`), after `fault_after_tokens` (`after`, default 5) tokens of a stream have been sent. An answer that is
 * not streamed takes as long as that many tokens take, and then fails as told in brackets.
 * - `none`: no fault; switches a fault of the settings off.
 * - `drop`: the connection is cut (no answer at all).
 * - `hang`: nothing more comes, and the connection stays open: until the client leaves, at most ten minutes.
 * - `malformed`: one chunk is broken JSON, then the stream goes on as if nothing were (broken JSON).
 * - `error_event`: `data: {"error": …}`, then `[DONE]`, as vLLM does (500).
 * - `close_early`: the stream ends cleanly, without finish_reason and `[DONE]` (the body is shorter than announced).
 * - `no_usage`: everything but the token counts.
 * - `429`, `500`, `503`: an error answer, after the first-token delay; `retry_after` (seconds) adds that header.
 *
 * Dialects, to look like other engines
 * - `reasoning_field`: `reasoning_content` (default; llama.cpp, SGLang) or `reasoning` (vLLM, Ollama).
 * - `tool_args_whole`: each tool call comes in one delta with its arguments complete (Ollama).
 * - `interleave_tools`: the argument fragments of parallel calls alternate.
 * - `text_before_tools`: a sentence of text comes before the tool calls.
 * - `role_on_every_delta`: each delta says `role: "assistant"` (Ollama).
 * - `finish_stop`: finish_reason is `stop` in spite of tool calls.
 */
import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';

const faults = [
  'none',
  'drop',
  'hang',
  'malformed',
  'error_event',
  'close_early',
  'no_usage',
  '429',
  '500',
  '503',
] as const;

const milliseconds = z.int().min(0).max(600_000);

const allFields = z.strictObject({
  first_token_delay_ms: milliseconds,
  tokens_per_second: z.number().min(0).max(1_000_000),
  answer_tokens: z.int().min(1).max(1_000_000),
  fault: z.preprocess((fault) => (typeof fault === 'number' ? String(fault) : fault), z.enum(faults)),
  fault_after_tokens: z.int().min(0),
  retry_after: z.int().min(0),
  reasoning_field: z.enum(['reasoning_content', 'reasoning']),
  tool_args_whole: z.boolean(),
  interleave_tools: z.boolean(),
  text_before_tools: z.boolean(),
  role_on_every_delta: z.boolean(),
  finish_stop: z.boolean(),
});

type AllFields = z.output<typeof allFields>;

/** The options of one request, as somebody gave them. */
export type DemoFields = Partial<AllFields>;

/** The options of one request, complete. */
export type DemoOptions = DemoFields &
  Pick<AllFields, 'first_token_delay_ms' | 'tokens_per_second' | 'fault' | 'fault_after_tokens' | 'reasoning_field'>;

const shortForms: Record<string, string> = {
  delay: 'first_token_delay_ms',
  rate: 'tokens_per_second',
  tokens: 'answer_tokens',
  after: 'fault_after_tokens',
};

/** Reads `fault=drop after=5`; gives a sentence that names what is wrong with it. */
export function parseDemoWords(words: string): { ok: true; fields: DemoFields } | { ok: false; sentence: string } {
  const fields = words
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => {
      const [name = '', value = ''] = word.split('=', 2);
      return [shortForms[name] ?? name, readValue(value)];
    });
  return check(Object.fromEntries(fields));
}

/**
 * The options that hold for one request.
 * @param body the request's `demo` field, undefined when there is none
 * @param words the words of a demo line in the last user text
 * @throws RouterError `invalid_request` when they are not understood, for a typing error must not look like a passed test
 */
export function resolveDemoOptions(defaults: DemoOptions, body: unknown, words: string | undefined): DemoOptions {
  const given = body === undefined ? parseDemoWords(words ?? '') : check(body);
  if (given.ok) return { ...defaults, ...given.fields };
  throw new RouterError('invalid_request', `Demo options are not understood: ${given.sentence}.`, {
    param: body === undefined ? 'messages' : 'demo',
  });
}

function check(fields: unknown): ReturnType<typeof parseDemoWords> {
  const parsed = allFields.partial().safeParse(fields);
  // What comes from JSON or words has no fields that are there and undefined.
  if (parsed.success) return { ok: true, fields: parsed.data as DemoFields };
  const sentences = parsed.error.issues.map(({ path, message }) => [...path.map(String), message].join(': '));
  return { ok: false, sentence: sentences.join('; ') };
}

function readValue(value: string): string | number | boolean {
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value);
  return value === 'true' || value === 'false' ? value === 'true' : value;
}

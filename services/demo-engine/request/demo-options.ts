/**
 * Options of an answer: its speed, its length, its faults, and variants of its form.
 *
 * Options come from three sources. A later source in this list overrides an earlier source, field by field:
 * 1. the engine's setting `DEMO_OPTIONS`, in the syntax of 2;
 * 2. a separate line in the last user text, for clients that cannot add fields: `[demo fault=drop after=5]`. It accepts the
 *    field names and the short forms `delay`, `rate`, `tokens` and `after`. The line is ignored if 3 is present;
 * 3. a field `demo` of the request's body, `{"demo": {"fault": "drop", "fault_after_tokens": 5}}` (`extra_body` in the
 *    Python SDK; in TypeScript, the field is next to the other fields).
 *
 * Speed and length
 * - `first_token_delay_ms` (`delay`): milliseconds before the first token. The headers of a stream are sent before this delay.
 * - `tokens_per_second` (`rate`): 0 is as fast as possible.
 * - `answer_tokens` (`tokens`): the text is filler of exactly this many tokens, and no tool is called.
 *
 * Faults (`fault`). A stream fails after `fault_after_tokens` (`after`, default 5) tokens. An answer that is not streamed fails
 * after the time that this many tokens need. The words in brackets describe its failure.
 * - `none`: no fault; switches off a fault that the settings request.
 * - `drop`: the connection is closed (no answer at all).
 * - `hang`: nothing more is sent, and the connection stays open until the client disconnects, at most ten minutes.
 * - `malformed`: one chunk is broken JSON, then the stream continues normally (broken JSON).
 * - `error_event`: `data: {"error": …}`, then `[DONE]`, as vLLM does (500).
 * - `close_early`: the stream ends cleanly, without finish_reason and `[DONE]` (the body is shorter than its content-length).
 * - `no_usage`: the token counts are missing.
 * - `429`, `500`, `503`: an error answer with this status, after the first-token delay. `retry_after` (seconds) adds the header
 *   `retry-after`.
 *
 * Variants, to imitate other engines
 * - `reasoning_field`: `reasoning_content` (default; llama.cpp, SGLang) or `reasoning` (vLLM, Ollama).
 * - `tool_args_whole`: each tool call is sent in one delta with complete arguments (Ollama).
 * - `interleave_tools`: the argument fragments of parallel calls alternate.
 * - `text_before_tools`: a sentence of text precedes the tool calls.
 * - `role_on_every_delta`: each delta has `role: "assistant"` (Ollama).
 * - `finish_stop`: finish_reason is `stop` despite tool calls.
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

const allFieldsSchema = z.strictObject({
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

type AllFields = z.output<typeof allFieldsSchema>;

/** The options that one source sets. */
export type DemoFields = Partial<AllFields>;

/** The effective options of one request. */
export type DemoOptions = DemoFields &
  Pick<AllFields, 'first_token_delay_ms' | 'tokens_per_second' | 'fault' | 'fault_after_tokens' | 'reasoning_field'>;

const namesByShortForm: Record<string, string> = {
  delay: 'first_token_delay_ms',
  rate: 'tokens_per_second',
  tokens: 'answer_tokens',
  after: 'fault_after_tokens',
};

/** Parses words such as `fault=drop after=5`. Returns a sentence about the problem if they are invalid. */
export function parseDemoWords(words: string): { ok: true; fields: DemoFields } | { ok: false; sentence: string } {
  const fields = words
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => {
      const [name = '', value = ''] = word.split('=', 2);
      return [namesByShortForm[name] ?? name, readValue(value)];
    });
  return checkFields(Object.fromEntries(fields));
}

/**
 * Returns the effective options of one request.
 * @param body the request's `demo` field; undefined if there is no such field
 * @param words the words of a demo line in the last user text; undefined if there is no such line
 * @throws RouterError `invalid_request` for invalid options, because a typing error must not make a test pass
 */
export function resolveDemoOptions(defaults: DemoOptions, body: unknown, words: string | undefined): DemoOptions {
  const parsed = body === undefined ? parseDemoWords(words ?? '') : checkFields(body);
  if (parsed.ok) return { ...defaults, ...parsed.fields };
  throw new RouterError('invalid_request', `Demo options are not understood: ${parsed.sentence}.`, {
    param: body === undefined ? 'messages' : 'demo',
  });
}

function checkFields(fields: unknown): ReturnType<typeof parseDemoWords> {
  const parsed = allFieldsSchema.partial().safeParse(fields);
  // A field that is present is never undefined, because the fields were parsed from JSON or words.
  if (parsed.success) return { ok: true, fields: parsed.data as DemoFields };
  const sentences = parsed.error.issues.map(({ path, message }) => [...path.map(String), message].join(': '));
  return { ok: false, sentence: sentences.join('; ') };
}

function readValue(value: string): string | number | boolean {
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value);
  return value === 'true' || value === 'false' ? value === 'true' : value;
}

const demoLine = /^[ \t]*\[demo((?:[ \t]+\w+=[^\s\]]+)+)[ \t]*\][ \t]*$/m;

/** Returns the words of the `[demo …]` line in a text; undefined if there is no such line. */
export function findDemoWords(text: string): string | undefined {
  return demoLine.exec(text)?.[1];
}

export function removeDemoLine(text: string): string {
  return text.replace(demoLine, '').trim();
}

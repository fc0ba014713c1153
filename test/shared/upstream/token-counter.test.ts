import llama3 from 'llama3-tokenizer-js';
import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { TokenCounter } from '#shared/upstream/token-counter.ts';
import { UpstreamAnswerError } from '#shared/upstream/upstream-failure.ts';
import { least } from '../../helpers/least.ts';
import { until } from '../../helpers/until.ts';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { countTokens } from '#shared/upstream/o200k-tokens.ts';
import { said } from '../../helpers/formats/said.ts';

const { signal } = new AbortController();
type Ask = NonNullable<ConstructorParameters<typeof TokenCounter>[0]>;

/** The beginnings of some files, short enough for the calibration. */
const texts = [
  'README.md',
  'services/ingress/routing/serve-model-request.ts',
  'package.json',
  'shared/broker/dispatch/dispatcher.ts',
].map((file) => readFileSync(file, 'utf8').slice(0, 48 * 1024));

const asking = (text: string): JsonObject => ({
  messages: [said('system', 'You are a careful reviewer.'), said('user', text)],
});

/** What an engine with Llama 3's template and tokenizer reports as `prompt_tokens`. */
function llamaTokens({ messages }: JsonObject): number {
  const turns = messages as { role: string; content: string }[];
  const headed = (role: string): string => `<|start_header_id|>${role}<|end_header_id|>\n\n`;
  const text = turns.map(({ role, content }) => `${headed(role)}${content}<|eot_id|>`).join('');
  return llama3.encode(text + headed('assistant')).length;
}

/** Like llamaTokens, for a model whose tokenizer has a far smaller vocabulary. */
const coarseTokens = (request: JsonObject): number => Math.round(llamaTokens(request) * 1.3);

/** How far a count is from the number of a tokenizer, as a part of that. */
async function errorOf(counter: TokenCounter, text: string, tokensOf: typeof llamaTokens): Promise<number> {
  const truth = tokensOf(asking(text));
  return Math.abs((await counter.count(asking(text), 'm', signal)) - truth) / truth;
}

describe('counting tokens', () => {
  it('asks an upstream that can count, once per content', async () => {
    const asked = vi.fn<Ask>(() => Promise.resolve(42));
    const counter = new TokenCounter(asked);
    expect(await counter.count(asking('Hi'), 'm', signal)).toBe(42);
    expect(await counter.count(asking('Hi'), 'm', signal)).toBe(42);
    expect(asked).toHaveBeenCalledOnce();
    await counter.count(asking('Ho'), 'm', signal);
    await counter.count(asking('Hi'), 'other', signal);
    expect(asked).toHaveBeenCalledTimes(3);
  });

  it('counts by itself if the upstream turns out not to count', async () => {
    const counter = new TokenCounter(() => Promise.reject(new UpstreamAnswerError('no such path')));
    expect(await counter.count(asking('Hello there, how are you?'), 'm', signal)).toBeGreaterThan(10);
  });

  it('is within ten per cent of an unknown tokenizer', async () => {
    const counter = new TokenCounter(undefined);
    for (const text of texts) expect(await errorOf(counter, text, llamaTokens)).toBeLessThan(0.1);
  });

  it('is also within ten per cent of a far coarser tokenizer, after one answer', async () => {
    const counter = new TokenCounter(undefined);
    const [first = '', ...others] = texts;
    const short = (): Promise<number> => counter.count(asking('Hello there, how are you?'), 'm', signal);
    const before = await short();
    counter.createCalibration(asking(first), 'm', first.length)?.(coarseTokens(asking(first)));
    await until(async () => expect(await short()).toBeGreaterThan(before));
    for (const text of others) expect(await errorOf(counter, text, coarseTokens)).toBeLessThan(0.1);
  });

  it('does not block the event loop, whatever the text is', async () => {
    const blocked = async (): Promise<number> => {
      const text = '漢'.repeat(100_000) + 'x'.repeat(3_000_000);
      const counting = new TokenCounter(undefined).count(asking(text), 'm', signal);
      let longest = 0;
      let last = performance.now();
      const timer = setInterval(() => {
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }, 1);
      expect(await counting).toBeGreaterThan(100_000);
      clearInterval(timer);
      return longest;
    };
    // The tokenizer blocks for 20 seconds if it gets the whole text at once.
    expect(await least(blocked, 1_000)).toBeLessThan(1_000);
  });

  it('is never 0', async () => {
    expect(await new TokenCounter(undefined).count({ messages: [] }, 'm', signal)).toBe(1);
  });
  it('counts a long text in slices like the whole text', async () => {
    const part = 'It’s 3.14 o’clock — don’t\n\n  panic:  größer… 世界 is (really) [good]; e.g. x_y/z\tand so on. ';
    const text = part.repeat(200);
    expect(await countTokens(text, signal)).toBe(encode(text).length);
  });

  it('counts text that looks like a special token as text', async () => {
    expect(await countTokens('<|endoftext|>', signal)).toBeGreaterThan(1);
  });

  it('stops when the signal aborts', async () => {
    const client = new AbortController();
    const counting = countTokens('a'.repeat(1_000_000), client.signal);
    client.abort();
    await expect(counting).rejects.toThrow('aborted');
  });
});

import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { countTokens } from '#shared/upstream/o200k-tokens.ts';

const { signal } = new AbortController();

describe('counting tokens', () => {
  it('counts a long text in slices like the whole text', async () => {
    const text =
      'It’s 3.14 o’clock — don’t\n\n  panic:  größer… 世界 is (really) [good]; e.g. x_y/z\tand so on. '.repeat(200);
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

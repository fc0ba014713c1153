import { expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { readChatError } from '#shared/translate/upstreams/chat/upstream-error.ts';
import { messagesUpstream } from '#shared/translate/upstreams/messages/messages-upstream.ts';
import { responsesUpstream } from '#shared/translate/upstreams/responses/responses-upstream.ts';
import { OutputFit } from '#shared/upstream/output-fit.ts';

const asks: JsonObject = { model: 'm', max_tokens: 32_000 };

function fitOf(request = asks, format = chatUpstream, counted = 0): OutputFit | undefined {
  const write = (object: JsonObject): Buffer[] => [Buffer.from(JSON.stringify(object))];
  return OutputFit.createFor({ format, request, write, countInput: () => Promise.resolve(counted) });
}

function refusal(message: string, status = 400): unknown {
  return readChatError(status, JSON.stringify({ error: { message } }), {});
}

/** The limits of the requests to an upstream that refuses them with these errors, one after the other. */
async function limits(fit: OutputFit | undefined, ...messages: string[]): Promise<(number | undefined)[]> {
  const limits: (number | undefined)[] = [];
  for (const message of messages) limits.push((await fit?.lowerLimit(refusal(message)))?.limit);
  return limits;
}

const context = "This model's maximum context length is 30000 tokens.";
const inWhole = `${context} However, you requested 37000 tokens (5000 in the messages, 32000 in the completion).`;
const cut = (output: number): string =>
  `${context} However, you requested ${output} output tokens and your prompt contains at least ${30_001 - output} input tokens, for a total of at least 30001 tokens.`;

const said: Record<string, number> = {
  [inWhole]: 25_000,
  // Newer vLLM, and the newest if it has counted.
  [`'max_tokens' or 'max_completion_tokens' is too large: 32000. ${context.replace('.', '')} and your request has 5000 input tokens (32000 > 30000 - 5000).`]: 25_000,
  [`${context} However, you requested 29000 output tokens and your prompt contains 5000 input tokens, for a total of 34000 tokens.`]: 25_000,
  "Requested token count exceeds the model's maximum context length of 30000 tokens. You requested a total of 37000 tokens: 5000 tokens from the input messages and 32000 tokens for the completion.": 25_000,
  [`This endpoint's maximum context length is 30000 tokens. However, you requested about 37500 tokens (5000 of text input, 500 of tool input, 32000 in the output). Please reduce the length of either one.`]: 24_500,
  'max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.': 16_384,
  'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]': 8_192,
  '<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]': 8_192,
  '`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens`.': 8_192,
};
it.each(Object.entries(said))(
  "a refused limit of output tokens is lowered to what fits by the upstream's error: %s",
  async (message, limit) => {
    expect(await limits(fitOf(), message)).toEqual([limit]);
  },
);

const uncounted =
  'max_tokens=32000 cannot be greater than max_model_len=max_total_tokens=30000. Please request fewer output tokens.';
it.each([uncounted, cut(29_000)])(
  'a refused limit of output tokens is lowered by the input that is counted here if the upstream does not report it: %s',
  async (message) => {
    expect(await limits(fitOf(asks, chatUpstream, 7_000), message)).toEqual([23_000]);
  },
);

it('a refused limit of output tokens is lowered once more if the input was counted too low, and then no more', async () => {
  const refusals = [29_000, 23_000, 11_500].map(cut);
  expect(await limits(fitOf(asks, chatUpstream, 7_000), ...refusals)).toEqual([23_000, 11_500, undefined]);
});

it('a refused limit of output tokens is replaced in every field with the limit, and in no other', async () => {
  const request = { messages: [], max_tokens: 40_000, max_completion_tokens: 2_000, seed: 1 };
  const fitted = await fitOf(request)?.lowerLimit(refusal(inWhole));
  expect(JSON.parse(String(fitted?.body))).toEqual({ ...request, max_tokens: 25_000 });
  const limited = await fitOf({ max_output_tokens: 40_000 }, responsesUpstream)?.lowerLimit(refusal(inWhole));
  expect(JSON.parse(String(limited?.body))).toEqual({ max_output_tokens: 25_000 });
});

it('a request is not sent again if the input leaves too little of the context, or does not fit at all', async () => {
  const tight = `${context} However, you requested 61000 tokens (29000 in the messages, 32000 in the completion).`;
  const over = `${context} However, you requested 0 output tokens and your prompt contains at least 30001 input tokens`;
  const alone = `${context} However, your messages resulted in 31000 tokens.`;
  expect(await limits(fitOf(), tight, over, alone)).toEqual([undefined, undefined, undefined]);
  expect(await limits(fitOf(asks, chatUpstream, 30_000), cut(29_000))).toEqual([undefined]);
});

it("a request is not sent again after any other error, with a limit that would be enough by the upstream's error, or once it was accepted", async () => {
  expect(await limits(fitOf(), 'no such tool')).toEqual([undefined]);
  expect(await fitOf()?.lowerLimit(new Error('broken'))).toBeUndefined();
  expect(await limits(fitOf({ max_tokens: 25_000 }), inWhole)).toEqual([undefined]);
  const fit = fitOf();
  fit?.release();
  expect(await limits(fit, inWhole)).toEqual([undefined]);
});

it('a request is not sent again without a limit of its own, or in the messages format, whose clients lower it themselves', () => {
  expect(fitOf({ model: 'm' })).toBeUndefined();
  expect(fitOf({ model: 'm', max_tokens: null })).toBeUndefined();
  expect(fitOf(asks, messagesUpstream)).toBeUndefined();
});

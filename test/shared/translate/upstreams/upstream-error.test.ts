import { describe, expect, it } from 'vitest';
import { decodeError, encodeError } from '#shared/broker/contract/frame.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { createChatErrorAnswer, createOpenaiErrorAnswer } from '#shared/formats/openai/error.ts';
import { readChatError, readChatEventError } from '#shared/translate/upstreams/chat/upstream-error.ts';
import { readResponseError } from '#shared/translate/upstreams/responses/upstream-error.ts';
import { createMessagesErrorAnswer } from '#shared/formats/messages/error.ts';
import { readMessagesError, readMessagesEventError } from '#shared/translate/upstreams/messages/upstream-error.ts';

const chat = (message: string, more: object = {}) => JSON.stringify({ error: { message, ...more } });

const unreadArguments =
  "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1, column 8: syntax error while parsing object - unexpected end of input; expected '}'";

describe('an error of an upstream', () => {
  it.each([
    [400, 'invalid_request', 400],
    [401, 'upstream_failed', 502],
    [403, 'upstream_failed', 502],
    [404, 'upstream_failed', 502],
    [408, 'upstream_timeout', 504],
    [413, 'invalid_request', 400],
    [422, 'invalid_request', 400],
    [429, 'rate_limit_exceeded', 429],
    [500, 'upstream_failed', 502],
    [503, 'overloaded', 503],
    [504, 'upstream_timeout', 504],
    [529, 'overloaded', 503],
  ])('with status %i becomes %s in both formats', (status, code, known) => {
    const other = JSON.stringify({ type: 'error', error: { message: 'because' } });
    for (const body of ['', '<html>', '{}', chat('because'), other]) {
      const errors = [readChatError(status, body, {}), readMessagesError(status, body, {})];
      for (const error of errors) {
        expect(error.code).toBe(code);
        expect(createOpenaiErrorAnswer(error).status).toBe(known);
      }
    }
  });

  it('reports the mistake of the client, but no internal failure', () => {
    expect(readChatError(400, chat('unknown field x'), {}).message).toBe('unknown field x');
    expect(readChatError(422, JSON.stringify({ error: 'bad x' }), {}).message).toBe('bad x');
    expect(readChatError(400, JSON.stringify({ object: 'error', message: 'old' }), {}).message).toBe('old');
    expect(readChatError(500, chat('/srv/models/secret failed'), {}).message).not.toContain('secret');
    const unknown = readChatError(401, chat('Incorrect API key provided: sk-secret'), {});
    expect(unknown.cause).toBeUndefined();
    expect(unknown.message).not.toContain('secret');
  });

  it('from Gemini is read from a list, with the wait from its details', () => {
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [] },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.07s' },
    ];
    const limited = [{ error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED', details } }];
    const error = readChatError(429, JSON.stringify(limited), {});
    expect(error).toMatchObject({ code: 'rate_limit_exceeded', retryAfter: 34.07 });
    const refused = [{ error: { code: 400, message: 'Unknown name "x"', status: 'INVALID_ARGUMENT' } }];
    expect(readChatError(400, JSON.stringify(refused), {}).message).toBe('Unknown name "x"');
  });

  it('names the field that a chat upstream names', () => {
    const refused = chat('no such tool', { param: 'tool_choice' });
    expect(readChatError(400, refused, {}).param).toBe('tool_choice');
    expect(readChatError(400, chat('no', { param: null }), {}).param).toBeUndefined();
  });

  it('about an output limit above the model’s own has the text from which clients lower the limit', () => {
    const said =
      'max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.';
    expect(readChatError(400, chat(said), {})).toMatchObject({
      code: 'invalid_request',
      message: 'max_tokens: 32000 > 16384, which is the maximum allowed number of output tokens for this model',
      param: 'max_tokens',
    });
  });

  it('about exhausted credit does not become a rate limit', () => {
    const empty = chat('You exceeded your current quota', { type: 'insufficient_quota', code: 'insufficient_quota' });
    expect(readChatError(429, empty, {}).code).toBe('upstream_failed');
  });

  it('keeps the seconds to wait', () => {
    expect(readChatError(429, '', { 'retry-after': '7' }).retryAfter).toBe(7);
    expect(readMessagesError(529, '', { 'retry-after': ['3'] }).retryAfter).toBe(3);
    const limited = (headers: Record<string, string>) => readChatError(429, '', headers).retryAfter;
    expect(limited({ 'retry-after-ms': '1500', 'retry-after': '2' })).toBe(1.5);
    const [date, later] = ['Fri, 31 Dec 2027 23:59:29 GMT', 'Fri, 31 Dec 2027 23:59:59 GMT'];
    expect(limited({ 'retry-after': later, date })).toBe(30);
    expect(limited({ 'retry-after': date, date: later })).toBe(0);
    const soon = limited({ 'retry-after': new Date(Date.now() + 20_000).toUTCString() });
    expect(soon).toBeGreaterThan(10);
    expect(soon).toBeLessThanOrEqual(20);
    for (const unknown of ['soon', '-3', '1 minute']) expect(limited({ 'retry-after': unknown })).toBeUndefined();
    const limitedBody = JSON.stringify({ type: 'error', error: { type: 'rate_limit_error', message: 'm' } });
    const passed = readMessagesError(429, limitedBody, { 'retry-after': later, date });
    expect(createMessagesErrorAnswer(passed, 'r').headers).toMatchObject({ 'retry-after': '30' });
  });

  it.each([
    ['llama.cpp', 500, 'image input is not supported - hint: you may need to provide the mmproj', 'image_block'],
    ['llama.cpp', 500, 'audio input is not supported - hint: you may need to provide the mmproj', undefined],
    ['Ollama', 500, 'this model is missing data required for image input', 'image_block'],
    ['vLLM', 400, 'Qwen/Qwen3-8B is not a multimodal model', 'image_block'],
    ['OpenRouter', 404, 'No endpoints found that support image input', 'image_block'],
    ['LM Studio', 400, 'Model does not support images. Please use a model that does.', 'image_block'],
    ['DeepSeek', 400, 'messages[0]: unknown variant `image_url`, expected `text`', 'image_block'],
    ['OpenAI', 400, 'Invalid content type. image_url is only supported by certain models.', 'image_block'],
    ['Groq', 400, "'messages.0.content' : value must be a string. messages.0.content must be a string", 'image_block'],
    ['llama.cpp', 500, unreadArguments, undefined],
    ['llama.cpp', 500, 'Unable to generate parser for this template. Automatic parser generation failed', undefined],
    ['llama.cpp', 500, 'Failed to load image or audio file: failed to decode image bytes', undefined],
    ['SGLang', 500, 'cannot identify image file <_io.BytesIO object at 0x7f>', undefined],
  ])('of %s, %i, about input that the model cannot take is a fault of the request', (_, status, said, missing) => {
    const error = readChatError(status, chat(said), {});
    expect(error).toMatchObject({ code: 'invalid_request', message: said });
    expect(error.details?.['capability']).toBe(missing);
    expect(createOpenaiErrorAnswer(error)).toMatchObject({ status: 400, headers: { 'x-should-retry': 'false' } });
  });

  it('about a model that is no longer loaded is no fault of the request, which another worker may serve', () => {
    const body = chat('model is not loaded', { code: 400, type: 'invalid_request_error' });
    expect(readChatError(400, body, {})).toMatchObject({ code: 'upstream_failed', movable: true });
  });

  it('in a stream names the field that is wrong', () => {
    const error = { message: 'This field must be positive.', code: 400, param: 'temperature' };
    expect(readChatEventError({ error })).toMatchObject({ code: 'invalid_request', param: 'temperature' });
  });

  const tooLong = 'prompt is too long: 9000 tokens > 8192 maximum (capability_rejected: prompt_too_long)';
  const together =
    'input length and `max_tokens` exceed context limit: 5000 + 4000 > 8192 (capability_rejected: max_tokens_context_overflow)';
  const unknown =
    "prompt is too long: This model's maximum context length is exceeded. Please reduce the length of the input. (capability_rejected: prompt_too_long)";
  const notCounted = (rest: string): string =>
    `prompt is too long: This model's maximum context length is 8192 tokens. ${rest} reduce the length of the input. (capability_rejected: prompt_too_long)`;
  const limit = "This model's maximum context length is 8192 tokens.";
  const router = "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens";
  const counted = 'You requested a total of 9000 tokens: 5000 tokens from the input messages and 4000 tokens for the';
  /** Messages of upstreams by name, with the text that clients receive and further fields of the error. */
  const overflows: [text: string, said: Record<string, string>, more?: object][] = [
    [
      tooLong,
      {
        OpenAI: `${limit} However, your messages resulted in 9000 tokens. Please reduce the length of the messages.`,
        'OpenAI, newer':
          'Input tokens exceed the configured limit of 8192 tokens. Your messages resulted in 9000 tokens.',
      },
      { code: 'context_length_exceeded' },
    ],
    [
      tooLong,
      { 'llama.cpp': 'the request exceeds the available context size. try increasing the context size' },
      { type: 'exceed_context_size_error', n_prompt_tokens: 9000, n_ctx: 8192 },
    ],
    [
      tooLong,
      {
        'vLLM, newest, input alone, of token ids': `${limit} However, you requested 0 output tokens and your prompt contains 9000 input tokens, for a total of 9000 tokens.`,
        'OpenRouter, input alone': `${router} (9000 of text input). Please reduce the length of either one.`,
        'vLLM, input alone': `${limit} However, your request has 9000 input tokens. Please reduce the length of the input messages.`,
        'llama.cpp, newer': 'request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it',
        'llama.cpp, for embeddings':
          'input (9000 tokens) is too large to process. increase the physical batch size (current batch size: 8192)',
        SGLang: "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
        Anthropic: 'prompt is too long: 9000 tokens > 8192 maximum',
      },
    ],
    [unknown, { Ollama: 'the input length exceeds the context length' }],
    [
      notCounted('Please'),
      {
        'vLLM, newest, input alone': `${limit} However, you requested 0 output tokens and your prompt contains at least 8193 input tokens, for a total of at least 8193 tokens.`,
        'vLLM, newest, input alone beside an output': `${limit} However, you requested 64 output tokens and your prompt contains at least 8193 input tokens, for a total of at least 8257 tokens.`,
        'vLLM, input alone, in fewer words': `${limit} However, your prompt contains at least 8193 input tokens, which leaves no room for output tokens.`,
        'vLLM, characters alone': `${limit} However, your prompt contains 720060 characters (more than 81920 characters, which is the upper bound for 8192 input tokens).`,
        'vLLM 0.17, input alone':
          "You passed 8193 input tokens and requested 0 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 8192 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=8193)",
      },
    ],
    [
      notCounted('However, you requested 4000 tokens in the completion. Please'),
      {
        'vLLM, newest, together': `${limit} However, you requested 4000 output tokens and your prompt contains at least 4193 input tokens, for a total of at least 8193 tokens.`,
        'vLLM, newest, characters': `${limit} However, you requested 4000 output tokens and your prompt contains 581 characters (more than 0 characters, which is the upper bound for 0 input tokens).`,
        'vLLM 0.17, characters':
          "You passed 50000 input characters and requested 4000 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 4192 tokens (at most 41920 characters). Please reduce the length of the input prompt.",
      },
    ],
    [
      together,
      {
        'vLLM, older': `${limit} However, you requested 9000 tokens (5000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.`,
        'vLLM, newer': `'max_tokens' or 'max_completion_tokens' is too large: 4000. ${limit.replace('.', '')} and your request has 5000 input tokens (4000 > 8192 - 5000).`,
        'vLLM, newest': `${limit} However, you requested 4000 output tokens and your prompt contains 5000 input tokens, for a total of 9000 tokens. Please reduce the length of the input prompt or the number of requested output tokens.`,
        OpenRouter: `${router} (5000 of text input, 4000 in the output). Please reduce the length of either one.`,
        'SGLang, total': `Requested token count exceeds the model's maximum context length of 8192 tokens. ${counted} completion.`,
        'Anthropic, total':
          'input length and `max_tokens` exceed context limit: 5000 + 4000 > 8192, decrease input length or `max_tokens` and try again',
      },
    ],
  ];
  const overflowCases = overflows.flatMap(([text, said, more]) =>
    Object.entries(said).map(([name, message]) => [name, text, message, more] as const),
  );
  it.each(overflowCases)('about an exceeded context is recognized: %s', (_, text, message, more) => {
    const body = chat(message, more);
    for (const error of [readChatError(400, body, {}), readMessagesError(400, body, {})]) {
      const ofChat = createChatErrorAnswer(error).body.error;
      expect(ofChat).toMatchObject({ param: 'messages', code: 'context_length_exceeded' });
      expect(ofChat.message).toContain('reduce the length of the messages');
      const { message: other, ...elsewhere } = createOpenaiErrorAnswer(error).body.error;
      expect(elsewhere).toMatchObject({ param: null, code: 'context_length_exceeded' });
      expect(other).not.toContain('messages');
    }
    expect(createMessagesErrorAnswer(readChatError(400, body, {}), 'r').body.error.message).toBe(text);
  });

  it('of a messages upstream keeps its status, wording and details for messages clients, and whole seconds', () => {
    const error = { type: 'rate_limit_error', message: 'It resets soon.', details: { error_visibility: 'user' } };
    const body = { type: 'error', error, request_id: 'req_theirs' };
    const read = readMessagesError(429, JSON.stringify(body), {
      'retry-after': '93.2',
      'x-should-retry': 'true',
      'anthropic-ratelimit-unified-reset': '1763000000',
      'anthropic-ratelimit-requests-limit': '50',
      'set-cookie': ['secret'],
    });
    expect(createMessagesErrorAnswer(read, 'r')).toEqual({
      status: 429,
      headers: { 'retry-after': '94', 'x-should-retry': 'true', 'anthropic-ratelimit-unified-reset': '1763000000' },
      body: { type: 'error', error, request_id: 'r' },
    });
    expect(createOpenaiErrorAnswer(read).body.error.message).not.toContain('resets');
  });

  it.each([
    ['about our key', 401, { type: 'authentication_error', message: 'invalid x-api-key' }],
    ['about our permissions', 403, { type: 'permission_error', message: 'Not for this workspace.' }],
    ['about our key, in a stream', 200, { type: 'authentication_error', message: 'OAuth token has expired' }],
    ['that is longer than 16 KiB', 500, { type: 'api_error', message: 'x'.repeat(17_000) }],
  ])('of a messages upstream does not pass unchanged if it is an error %s', (_, status, error) => {
    const body = { type: 'error', error };
    const inAnswer = () => readMessagesError(status, JSON.stringify(body), {});
    const read = status === 200 ? readMessagesEventError(body) : inAnswer();
    expect(read).toMatchObject({ code: 'upstream_failed', original: undefined });
  });

  it.each([
    ['vLLM', chat('Qwen/Qwen3-8B is not a multimodal model'), 'image_block'],
    ['vLLM, today', chat('At most 0 image(s) may be provided in one prompt.'), 'image_block'],
    ['llama.cpp', chat('image input is not supported - hint: provide the mmproj'), 'image_block'],
    ['OpenAI', chat("Unsupported parameter: 'reasoning_effort'", { param: 'reasoning_effort' }), 'effort_unsupported'],
  ])('about a missing capability names it for Claude Code: %s', (_, body, token) => {
    const { error } = createMessagesErrorAnswer(readChatError(400, body, {}), 'r').body;
    expect(error.message).toMatch(new RegExp(`\\(capability_rejected: ${token}\\)$`));
    expect(createOpenaiErrorAnswer(readChatError(400, body, {})).body.error.message).not.toContain('rejected');
  });
});

describe('the code of a refusal, in formats of OpenAI', () => {
  const codeOf = (error: JsonObject): unknown => {
    const read = readChatError(400, JSON.stringify({ error: { message: 'No.', ...error } }), {});
    // Workers send the error in this form.
    const decoded = decodeError(Buffer.from(encodeError(read.withEffects().withOriginal(undefined))));
    const { code } = createChatErrorAnswer(decoded).body.error;
    expect(createOpenaiErrorAnswer(decoded).body.error.code).toBe(code);
    expect(decoded.code).toBe('invalid_request');
    return code;
  };

  it("is the upstream's own", () => {
    expect(codeOf({ code: 'unsupported_value' })).toBe('unsupported_value');
    expect(codeOf({ code: 'invalid_type' })).toBe('invalid_type');
    const event = readResponseError({ type: 'error', code: 'invalid_prompt', message: 'No.' });
    expect(createOpenaiErrorAnswer(event).body.error.code).toBe('invalid_prompt');
  });

  it.each([
    // vLLM, SGLang, llama.cpp, Google.
    { code: 400, type: 'BadRequestError' },
    { code: null, type: 'BadRequest' },
    { code: 400, type: 'invalid_request_error' },
    { code: 'invalid_request_error' },
    { code: 'INVALID <script>' },
    { code: 400, status: 'INVALID_ARGUMENT' },
  ])('is that of an invalid value if the engine sends none: %j', (error) => {
    expect(codeOf(error)).toBe('invalid_value');
  });

  it("is the router's own if the router refuses the request", () => {
    expect(createChatErrorAnswer(new RouterError('invalid_request', 'No.')).body.error.code).toBe('invalid_type');
  });
});

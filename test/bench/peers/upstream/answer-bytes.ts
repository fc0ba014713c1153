import type { BenchFormat } from './scenarios.ts';
import { stamp } from './stamp.ts';

/** The bytes of one format's answers. Texts of streams begin with stamps, passed as one text. */
export interface AnswerBytes {
  format: BenchFormat;
  whole: (model: string) => string;
  begin: (model: string) => string;
  text: (model: string, text: string) => string;
  end: (model: string, texts: number) => string;
}

const id = '8f14e45fceea4672a1a07d1a2b3c4d5e';
const created = 1_792_000_000;
const promptTokens = 148;
const endTurn = { stop_reason: 'end_turn', stop_sequence: null };
const sentence = 'Certainly, a bow of carbon fibre, which you can try here.';

/** Answers as vLLM's server writes them. */
export const chatBytes: AnswerBytes = {
  format: 'chat',
  whole: (model) => {
    const message = { role: 'assistant', content: sentence, refusal: null, tool_calls: [] };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop', stop_reason: null }];
    const begin = { id: `chatcmpl-${id}`, object: 'chat.completion', created, model, choices };
    return JSON.stringify({ ...begin, service_tier: null, system_fingerprint: null, usage: chatUsage(13) });
  },
  begin: (model) => chatEvent(model, { delta: { role: 'assistant', content: '' }, finish_reason: null }),
  text: (model, content) => chatEvent(model, { delta: { content }, logprobs: null, finish_reason: null }),
  end: (model, texts) =>
    chatEvent(model, { delta: { content: '' }, logprobs: null, finish_reason: 'stop' }) +
    `data: ${JSON.stringify({ ...chatChunk(model), choices: [], usage: chatUsage(texts) })}\n\ndata: [DONE]\n\n`,
};

/** Answers as Anthropic's API writes them. */
export const messagesBytes: AnswerBytes = {
  format: 'messages',
  whole: (model) => JSON.stringify(message(model, [{ type: 'text', text: sentence }], 'end_turn', 13)),
  begin: (model) =>
    messagesEvent('message_start', { message: message(model, [], null, 1) }) +
    messagesEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  text: (_, text) => messagesEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  end: (_, texts) =>
    messagesEvent('content_block_stop', { index: 0 }) +
    messagesEvent('message_delta', { delta: endTurn, usage: { output_tokens: texts } }) +
    messagesEvent('message_stop', {}),
};

export function stampedText(...times: readonly number[]): string {
  return `${times.map(stamp).join('')} bow`;
}

function chatEvent(model: string, choice: object): string {
  return `data: ${JSON.stringify({ ...chatChunk(model), choices: [{ index: 0, ...choice }] })}\n\n`;
}

function chatChunk(model: string): object {
  return { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created, model };
}

function chatUsage(completion: number): object {
  const total = { prompt_tokens: promptTokens, total_tokens: promptTokens + completion };
  return { ...total, completion_tokens: completion, prompt_tokens_details: null };
}

function messagesEvent(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function message(model: string, content: object[], stop: string | null, tokens: number): object {
  const usage = { input_tokens: promptTokens, output_tokens: tokens };
  const begin = { id: `msg_${id}`, type: 'message', role: 'assistant', model, content };
  return { ...begin, stop_reason: stop, stop_sequence: null, usage };
}

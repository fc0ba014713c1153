import { describe, expect, it } from 'vitest';
import { chatStreamAdditions } from '#shared/formats/chat/stream-additions.ts';
import { messagesStreamAdditions } from '#shared/formats/messages/messages-format.ts';
import { StatelessStream, type StreamAdditions } from '#shared/formats/sse/streamed-answer.ts';

function tokensOf(words: StreamAdditions, pieces: string[]): number {
  const stream = new StatelessStream(words, 'r');
  for (const piece of pieces) stream.relay(Buffer.from(piece));
  return stream.tokens;
}

const inChat = (...pieces: string[]) => tokensOf(chatStreamAdditions, pieces);
const inMessages = (...pieces: string[]) => tokensOf(messagesStreamAdditions, pieces);

const chunk = (delta: object): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-9ce552fb06b442e8a4113cf0e5a54b1a',
    object: 'chat.completion.chunk',
    created: 1795272081,
    model: 'a-model-with-a-rather-long-name',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
  })}\n\n`;
const chatHead = chunk({ role: 'assistant', content: '' });

const delta = (text: string): string => {
  const data = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } };
  return `event: content_block_delta\ndata: ${JSON.stringify(data)}\n\n`;
};
const ping = 'event: ping\ndata: {"type":"ping"}\n\n';
const messagesHead = [
  `event: message_start\ndata: {"type":"message_start","message":{"id":"msg_6c114a10","usage":{"input_tokens":11}}}\n\n`,
  ping,
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
];

describe('the tokens of a part of a stream', () => {
  it('are 0 before the first text', () => {
    expect(inChat()).toBe(0);
    expect(inChat(chatHead)).toBe(0);
    expect(inMessages(...messagesHead)).toBe(0);
  });

  it('are the number of events if the engine sends each token by itself, in pieces of any size', () => {
    const words = Array.from({ length: 50 }, (_, index) => [' the', ' of', ' word', ','][index % 4] ?? '');
    const chunks = words.map((content) => chunk({ content }));
    expect(inChat(chatHead, ...chunks)).toBe(50);
    expect(inChat([chatHead, ...chunks].join(''))).toBe(50);
    expect(inMessages(...messagesHead, ...words.map(delta))).toBe(50);
  });

  it('do not grow with pings and empty deltas', () => {
    const empty = Array<string>(100).fill(chunk({ content: '' }));
    expect(inChat(chatHead, chunk({ content: 'one' }), ...empty)).toBe(1);
    const pings = Array.from({ length: 100 }, () => [ping, delta('')]).flat();
    expect(inMessages(...messagesHead, delta('one'), ...pings)).toBe(1);
    expect(inMessages([...messagesHead, delta('one'), ...pings].join(''))).toBe(1);
  });

  it('follow from the length of the texts if an event has many tokens', () => {
    const text = 'A whole sentence comes in one piece, as clouds send it. '.repeat(3);
    const tokens = Math.ceil((10 * text.length) / 4);
    const ofChat = inChat(chatHead, chunk({ content: text }).repeat(10));
    const ofMessages = inMessages(...messagesHead, delta(text).repeat(10));
    for (const estimate of [ofChat, ofMessages]) expect(Math.abs(estimate - tokens)).toBeLessThan(tokens / 50);
  });
});

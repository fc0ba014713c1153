import { expect, it } from 'vitest';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import { pickPassedHeaders } from '#services/ingress/routing/pick-passed-headers.ts';

it('the headers of a client are passed only if its format names them', () => {
  const anthropic = {
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'one-2025-01-01, two-2025-02-02',
    'x-claude-code-request-class': 'subagent',
  };
  const openai = { 'openai-beta': 'assistants=v2' };
  const secrets = { authorization: 'Bearer secret', 'x-api-key': 'secret', cookie: 'secret' };
  const headers = { ...anthropic, ...openai, ...secrets };
  expect(pickPassedHeaders(headers, messagesFormat.passedHeaders)).toEqual(anthropic);
  expect(pickPassedHeaders(headers, chatFormat.passedHeaders)).toEqual(openai);
});

it('the headers of a client are undefined if none was sent, or only empty ones', () => {
  expect(pickPassedHeaders({ 'anthropic-beta': '', host: 'x' }, messagesFormat.passedHeaders)).toBeUndefined();
});

it('the headers of a client are refused if one is too long', () => {
  const headers = { 'anthropic-beta': 'x'.repeat(4097) };
  expect(() => pickPassedHeaders(headers, messagesFormat.passedHeaders)).toThrow(
    'The header anthropic-beta is longer than 4096 characters.',
  );
});

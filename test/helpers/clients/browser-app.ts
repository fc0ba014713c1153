import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

/*
 * What a web page does with the SDKs. It is bundled for the browser, where its exports are the global `app`.
 */

/** What a page sees of an answer: its headers and the texts of its stream, as they came. The browser may let it see nothing. */
export type Seen = { pieces: string[]; status: number; headers: Record<string, string> } | 'unreadable';

const question = [{ role: 'user' as const, content: 'Say something.' }];

export function streamChat(url: string, apiKey: string): Promise<Seen> {
  const client = new OpenAI({ baseURL: `${url}/api/openai/v1`, apiKey, dangerouslyAllowBrowser: true, maxRetries: 0 });
  return seen(async (pieces) => {
    const request = { model: 'demo', messages: question, stream: true as const };
    const { data, response } = await client.chat.completions.create(request).withResponse();
    for await (const { choices } of data) pieces.push(choices[0]?.delta.content ?? '');
    return response;
  });
}

export function streamMessage(url: string, apiKey: string): Promise<Seen> {
  const client = new Anthropic({
    baseURL: `${url}/api/anthropic`,
    apiKey,
    dangerouslyAllowBrowser: true,
    maxRetries: 0,
  });
  return seen(async (pieces) => {
    const stream = client.beta.messages.stream({
      model: 'demo',
      max_tokens: 100,
      messages: question,
      betas: ['a-beta'],
    });
    stream.on('text', (text) => pieces.push(text));
    const { response } = await stream.withResponse();
    await stream.done();
    return response;
  });
}

/** The answer of a fetch that would send cookies. */
export function fetchWithCookies(url: string, apiKey: string): Promise<Seen> {
  const headers = { authorization: `Bearer ${apiKey}` };
  return seen(() => fetch(`${url}/api/openai/v1/models`, { headers, credentials: 'include' }));
}

/** The answer of the console to a request without a preflight. */
export function fetchConsole(url: string): Promise<Seen> {
  return seen(() => fetch(`${url}/console/api/session`));
}

async function seen(ask: (pieces: string[]) => Promise<Response>): Promise<Seen> {
  const pieces: string[] = [];
  try {
    const { status, headers } = await ask(pieces);
    return { pieces, status, headers: Object.fromEntries(headers) };
  } catch (error) {
    const isUnreadable = [TypeError, OpenAI.APIConnectionError, Anthropic.APIConnectionError].some(
      (kind) => error instanceof kind,
    );
    if (isUnreadable) return 'unreadable';
    const { status, headers } = error as { status: number; headers: Headers };
    return { pieces, status, headers: Object.fromEntries(headers) };
  }
}

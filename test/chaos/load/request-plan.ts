/**
 * Kind of a key: without limits; with a limit of concurrent requests, which each request checks; or with other limits, which shares can
 * serve.
 */
export type KeyKind = 'free' | 'concurrent' | 'shared';

/** Behaviour of a client of the load after its request. */
export type Behaviour = 'reads' | 'vanishes' | 'stalls';

/** A request as the seed determines it, and the only right answer to it. */
export interface RequestPlan {
  /** Also its `x-request-id`, in the ledger and at the engines. */
  id: string;
  format: 'chat' | 'messages' | 'tools';
  stream: boolean;
  /** The cluster's key with which it is sent. */
  key: KeyKind;
  behaviour: Behaviour;
  /** Index of the ingress to which it is sent. */
  ingress: number;
  /** Words of the answer. */
  words: number;
  /** Tokens a second. */
  rate: number;
  /** Milliseconds before the first token. */
  delayMs: number;
  /** Kills the worker whose engine reads it. */
  poison: boolean;
  /** Milliseconds after which it is sent once more, to the other ingress, with the same idempotency key; undefined if it is sent once. */
  againMs: number | undefined;
}

/** Reads the id and the poison of a prompt from any body that contains it. */
export function readMark(body: string): { id: string; isPoisoned: boolean } {
  const [, mark, id = ''] = /(Repeat|Poison) ([\w-]+)\./.exec(body) ?? [];
  return { id, isPoisoned: mark === 'Poison' };
}

/** Plans a request of the mixed load. `random` decides; `also` overrides. */
export function planRequest(id: string, random: () => number, also: Partial<RequestPlan> = {}): RequestPlan {
  const kind = random();
  const manner = random();
  const format = kind < 0.45 ? 'chat' : kind < 0.85 ? 'messages' : 'tools';
  return {
    id,
    format,
    stream: format !== 'tools' && random() < 0.7,
    key: keyOf(random()),
    behaviour: manner < 0.88 ? 'reads' : manner < 0.96 ? 'vanishes' : 'stalls',
    ingress: random() < 0.5 ? 0 : 1,
    words: 10 + Math.floor(random() * 110),
    rate: 80 + Math.floor(random() * 120),
    delayMs: Math.floor(random() * 400),
    poison: false,
    againMs: format !== 'tools' && random() < 0.1 ? Math.floor(random() * 800) : undefined,
    ...also,
  };
}

/** Returns the key of a request. Most requests use the key whose limits shares can serve: shares are for keys with many requests. */
function keyOf(random: number): KeyKind {
  if (random < 0.15) return 'concurrent';
  return random < 0.65 ? 'shared' : 'free';
}

/** Returns words of which no two are the same, and no two requests have the same. */
function wordsOf({ id, words }: RequestPlan): string {
  return [id, ...Array.from({ length: words }, (_, at) => `${at}`)].join(' ');
}

/** Returns the complete text of the answer: the demo engine quotes the result of a tool. */
export function expectedText(plan: RequestPlan): string {
  return plan.format === 'tools' ? `ran ${plan.id}` : `lookup gave: “${wordsOf(plan)}”`;
}

/** Returns path and body of the request. */
export function requestOf(plan: RequestPlan): { path: string; body: object } {
  const asked = `${plan.poison ? 'Poison' : 'Repeat'} ${plan.id}.\n[demo delay=${plan.delayMs} rate=${plan.rate}]`;
  const found = wordsOf(plan);
  const question = { role: 'user', content: asked };
  const lookup = { name: 'lookup', arguments: '{}' };
  const common = { model: 'demo', stream: plan.stream, max_tokens: 2_000 };
  switch (plan.format) {
    case 'tools':
      return { path: '/api/tools/v1/execute', body: { tool: 'mark', input: { id: plan.id, ms: plan.delayMs } } };
    case 'chat':
      return {
        path: '/api/openai/v1/chat/completions',
        body: {
          ...common,
          ...(plan.stream && { stream_options: { include_usage: true } }),
          messages: [
            question,
            { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: lookup }] },
            { role: 'tool', tool_call_id: 'call_1', content: found },
          ],
        },
      };
    case 'messages':
      return {
        path: '/api/anthropic/v1/messages',
        body: {
          ...common,
          messages: [
            question,
            { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'lookup', input: {} }] },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: found }] },
          ],
        },
      };
  }
}

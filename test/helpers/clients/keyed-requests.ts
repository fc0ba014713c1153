import { randomUUID } from 'node:crypto';
import type { Cluster } from '../cluster/start-cluster.ts';

export interface KeyedPost {
  url: string;
  key: string;
  /** Path below `/api`. */
  path?: string;
  body: object | string | FormData;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export function newKey(): string {
  return `key-${randomUUID()}`;
}

/** Sends a GET to a path below `/api`. */
export function get({ url, key }: Pick<KeyedPost, 'url' | 'key'>, path: string, headers: Record<string, string> = {}) {
  return fetch(`${url}/api${path}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
}

/** Sends a POST, by default to the chat completions. */
export function post({ url, key, path = '/openai/v1/chat/completions', body, headers, signal }: KeyedPost) {
  const isForm = body instanceof FormData;
  return fetch(`${url}/api${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      ...(!isForm && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: isForm || typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });
}

/** A request with an idempotency key, which may continue after an event of its stream. */
export interface RepeatedPost extends Pick<KeyedPost, 'path' | 'signal'> {
  key: string;
  body: object;
  /** Address of an ingress. Default: the first one of the cluster. */
  url?: string;
  after?: number;
}

export function sendWithKey(cluster: Pick<Cluster, 'url' | 'key'>, { key, after, url, ...asked }: RepeatedPost) {
  const headers = { 'idempotency-key': key, ...(after !== undefined && { 'last-event-id': String(after) }) };
  return post({ url: url ?? cluster.url, key: cluster.key, headers, ...asked });
}

/**
 * Returns the body of a chat request.
 * @param words options of the demo engine, such as `rate=50 tokens=40`
 */
export function chat(words: string, fields: object = {}): object {
  return { model: 'demo', messages: [{ role: 'user', content: `Tell a story.\n[demo ${words}]` }], ...fields };
}

/** An event of a stream with ids. */
export interface NumberedEvent {
  id: number | undefined;
  data: string;
}

export const idsOf = (events: readonly NumberedEvent[]) => events.map(({ id }) => id);

/** Returns the numbers from 0 up to this count. */
export const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

/** Returns the events of a part of a stream, without comments and pings. */
export function eventsIn(text: string): NumberedEvent[] {
  return text.split('\n\n').flatMap((block) => {
    const lines = block.split('\n');
    const data = lines.find((line) => line.startsWith('data: '));
    if (data === undefined || lines.includes('event: ping')) return [];
    const id = lines.find((line) => line.startsWith('id: '));
    return [{ id: id === undefined ? undefined : Number(id.slice(4)), data: data.slice(6) }];
  });
}

/**
 * Reads a stream up to this number of whole events, and cuts the connection.
 * @returns the events
 */
export async function readEvents(response: Response, most: number, cut: AbortController): Promise<NumberedEvent[]> {
  let text = '';
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) break;
    text += decoder.decode(value, { stream: true });
    const whole = eventsIn(text.slice(0, text.lastIndexOf('\n\n') + 2));
    if (whole.length < most) continue;
    cut.abort();
    return whole.slice(0, most);
  }
  throw new Error(`The stream has ended before ${most} events: ${text}`);
}

/** Returns how many answers the demo engine of a cluster has begun, is making, and has stopped making. */
export async function engineState({ engineUrl }: Pick<Cluster, 'engineUrl'>) {
  const answer = await fetch(`${engineUrl}/demo/state`);
  return (await answer.json()) as { started: number; active: number; finished: number; aborted: number };
}

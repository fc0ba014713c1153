import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { engineState, newKey, post } from '../../helpers/clients/keyed-requests.ts';
import { useHostedTools } from '../../helpers/cluster/use-hosted-tools.ts';
import { until } from '../../helpers/until.ts';

const { cluster } = useHostedTools();

const pages = { type: 'mcp', server_label: 'pages', server_url: 'http://127.0.0.1:1/mcp', require_approval: 'never' };

/** Sends a request, leaves as soon as its text has begun, and sends it again later. @param pause wait between the two */
async function leaveAndReturn(
  input: string,
  tools: object[],
  pause: () => Promise<void>,
): Promise<{ turns: number; again: Response }> {
  const key = newKey();
  const body = { model: 'demo', store: false, stream: true, input, tools };
  const path = '/openai/v1/responses';
  const { started } = await engineState(cluster);
  const first = await post({ ...cluster, path, body, headers: { 'idempotency-key': key } });
  const reader = (first.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  while (!text.includes('response.output_text.delta')) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the stream ended: ${text}`);
    text += Buffer.from(value).toString();
  }
  await reader.cancel();
  await pause();
  const again = await post({ ...cluster, path, body, headers: { 'idempotency-key': key } });
  const whole = await again.text();
  expect(whole).toContain('response.completed');
  return { turns: (await engineState(cluster)).started - started, again };
}

const slowly = `[demo rate=20]\n[demo say ${JSON.stringify('Badgers dig. '.repeat(30))}]`;

describe('a keyed request whose client leaves', () => {
  it('continues to its end once a tool of an MCP server was called: the tool is not called again', async () => {
    const input = `[demo call mcp_pages_find_pages {"query": "b"}]\n${slowly}`;
    // Without a client it would be cancelled after that time.
    const { turns, again } = await leaveAndReturn(input, [pages], () => sleep(600));
    expect(turns).toBe(2);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  it('is cancelled and served again when only a search was made', async () => {
    const input = `[demo call web_search {"query": "b"}]\n${slowly}`;
    const { aborted } = await engineState(cluster);
    const { turns, again } = await leaveAndReturn(input, [{ type: 'web_search' }], () =>
      until(async () => (await engineState(cluster)).aborted > aborted),
    );
    expect(turns).toBe(4);
    expect(again.headers.get('idempotent-replayed')).toBe(null);
  });
});

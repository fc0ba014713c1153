import { once } from 'node:events';
import { Agent, request as send, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBalancer } from '../helpers/cluster/start-balancer.ts';
import { chatRequest, startScriptedCluster, type ScriptedCluster } from '../helpers/cluster/start-scripted-cluster.ts';
import { until } from '../helpers/until.ts';

let cluster: ScriptedCluster;

beforeAll(async () => {
  cluster = await startScriptedCluster();
  await cluster.addScripted();
});

afterAll(() => cluster.stop());

const path = '/api/openai/chat/completions';
const body = (steps: Parameters<typeof chatRequest>[0]): string => JSON.stringify(chatRequest(steps));

/** Sends a request through an agent. */
async function ask(agent: Agent, url: string, steps: Parameters<typeof chatRequest>[0]) {
  const headers = { authorization: `Bearer ${cluster.key}`, 'content-type': 'application/json' };
  const sent = send(`${url}${path}`, { agent, method: 'POST', headers });
  sent.end(body(steps));
  const [answer] = (await once(sent, 'response').catch((error: object) => {
    throw Object.assign(error, { reused: sent.reusedSocket });
  })) as [IncomingMessage];
  return { status: answer.statusCode, connection: answer.headers.connection, text: await text(answer) };
}

it('fails no request of clients behind a balancer that watches readiness', { timeout: 60_000 }, async () => {
  const settings = { LEAVE_MS: '1500' };
  const old = [await cluster.addIngress(settings), await cluster.addIngress(settings)];
  const nodes = new Set(old.map(({ url }) => url));
  const balancer = await startBalancer(nodes);
  const agent = new Agent({ keepAlive: true });
  let served = 0;
  const over = new AbortController();
  const failed: unknown[] = [];
  const client = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const answer = await ask(agent, balancer.url, [{ waitMs: 5 }, { write: 'served' }]).catch(String);
      if (typeof answer !== 'string' && answer.status === 200 && answer.text === 'served') served += 1;
      else failed.push(answer);
    }
  };
  const clients = Array.from({ length: 8 }, client);
  try {
    for (const { process, url } of old) {
      const successor = await cluster.addIngress(settings);
      nodes.add(successor.url);
      await until(() => balancer.healthy.has(successor.url));
      expect(await process.stop()).toBe(0);
      nodes.delete(url);
    }
  } finally {
    over.abort();
    await Promise.all(clients);
    agent.destroy();
    balancer.stop();
  }
  expect(failed).toEqual([]);
  expect(served).toBeGreaterThan(200);
});

it('fails no request of a client that keeps its connections', async () => {
  const { process, url } = await cluster.addIngress({ LEAVE_MS: '700' });
  const closed: (string | undefined)[] = [];
  const failed: unknown[] = [];
  /** Sends one request after the other until the port is closed. Each client has one connection. */
  const client = async (steps: Parameters<typeof chatRequest>[0]): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (;;) {
      const answer = await ask(agent, url, steps).catch((error: Error & { reused?: boolean }) => error);
      if (answer instanceof Error) {
        // A connection that is new when the port closes is refused or reset; one that was kept is neither.
        if (answer.reused !== false) failed.push(answer);
        break;
      }
      closed.push(answer.connection);
      if (answer.status !== 200) failed.push(answer);
    }
    agent.destroy();
  };
  // Answers of the second kind begin before the signal and end when the port is closed: the next request uses their connection.
  const clients = [
    ...Array.from({ length: 4 }, () => client([{ write: 'x' }])),
    client([{ waitMs: 1_000 }, { write: 'x' }]),
  ];
  await until(() => closed.length > 20);
  const stopped = process.stop();
  await process.line('leaving: requests are still served');
  expect((await fetch(`${url}/health`)).status).toBe(503);
  await Promise.all(clients);
  expect(failed).toEqual([]);
  expect(closed.filter((each) => each === 'close').length).toBeGreaterThan(20);
  expect(await stopped).toBe(0);
});

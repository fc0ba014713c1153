import { once } from 'node:events';
import { Agent, request as send, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { chatRequest, startScriptedCluster } from '../helpers/cluster/start-scripted-cluster.ts';
import type { Step } from '../helpers/broker/scripted-handler.ts';
import { until } from '../helpers/until.ts';
import { useStarted } from '../helpers/use-started.ts';

const cluster = useStarted(() => startScriptedCluster());
beforeAll(() => cluster.addScripted());

async function ask(agent: Agent, url: string, steps: Step[]) {
  const headers = { authorization: `Bearer ${cluster.key}`, 'content-type': 'application/json' };
  const sent = send(`${url}/api/openai/chat/completions`, { agent, method: 'POST', headers });
  sent.end(JSON.stringify(chatRequest(steps)));
  const [answer] = (await once(sent, 'response').catch((error: object) => {
    throw Object.assign(error, { reused: sent.reusedSocket });
  })) as [IncomingMessage];
  return { status: answer.statusCode, connection: answer.headers.connection, text: await text(answer) };
}

describe('an ingress that stops', () => {
  it('fails no request of a client that keeps its connections', async () => {
    const { process, url } = await cluster.addIngress({ LEAVE_MS: '3000' });
    const closed: (string | undefined)[] = [];
    const failed: unknown[] = [];
    /** Sends one request after the other until the port is closed. Each client has one connection. */
    const client = async (steps: Step[]): Promise<void> => {
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
      client([{ waitMs: 5_000 }, { write: 'x' }]),
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
});

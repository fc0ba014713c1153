import { Agent, request as send } from 'node:http';
import { serveHttp } from '../servers/serve-http.ts';

/** Headers of a connection, which a balancer does not pass on. */
const ownHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/** A load balancer in this process. */
export interface Balancer {
  url: string;
  /** Addresses of the nodes that it uses now. */
  healthy: ReadonlySet<string>;
  stop: () => void;
}

/**
 * Starts a load balancer with kept-alive connections to its nodes. It uses the nodes whose `/health` answers 200, and repeats no request.
 * @param nodes their addresses; may change while it runs
 */
export async function startBalancer(nodes: ReadonlySet<string>): Promise<Balancer> {
  const healthy = new Set(nodes);
  const agent = new Agent({ keepAlive: true });
  const polling = setInterval(() => {
    for (const node of nodes)
      fetch(`${node}/health`).then(
        ({ ok }) => (ok ? healthy.add(node) : healthy.delete(node)),
        () => healthy.delete(node),
      );
  }, 200);
  let turn = 0;
  const { url, stop } = await serveHttp((request, response) => {
    const all = [...healthy];
    const { method, headers } = request;
    const onward = send(`${all[turn++ % all.length]}${request.url}`, { agent, method, headers });
    onward.on('error', () => response.writeHead(502).end());
    onward.on('response', (answer) => {
      const passedOn = Object.entries(answer.headers).filter(([name]) => !ownHeaders.has(name));
      response.writeHead(answer.statusCode ?? 0, Object.fromEntries(passedOn));
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  return {
    url,
    healthy,
    stop: () => {
      clearInterval(polling);
      agent.destroy();
      void stop();
    },
  };
}

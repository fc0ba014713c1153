import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { requestBody } from '../peers/cells/request-body.ts';
import { paths } from '../peers/systems/system.ts';
import { ScenarioConnection } from '../peers/upstream/scenario-connection.ts';
import { modelOf, scenarios, type BenchFormat, type ScenarioName } from '../peers/upstream/scenarios.ts';
import { LoadConnection, prepareRequest, type Timing } from './load-connection.ts';

describe('a connection of the load generator', () => {
  it.each(['chat', 'messages'] as const)('times every text of a stream in the %s format', async (format) => {
    const port = await listen((socket) => new ScenarioConnection(socket));
    const { stamps, firstMs, totalMs } = await ask(port, format, 'bench-short');
    expect(stamps).toMatchObject({ texts: 4, tokens: [expect.any(Number), expect.any(Number), expect.any(Number)] });
    const delays = [stamps.there, stamps.byte, stamps.text, ...stamps.tokens];
    for (const delay of delays) expect(delay).toBeGreaterThanOrEqual(0);
    // The 20 ms are the upstream's own wait, so they are no delay on the way.
    expect(firstMs).toBeGreaterThan(18);
    expect(totalMs).toBeGreaterThan(firstMs + 3 * 13);
    expect(Math.min(...delays)).toBeLessThan(18);
  });

  it('reads whole answers in both formats', async () => {
    const port = await listen((socket) => new ScenarioConnection(socket));
    for (const format of ['chat', 'messages'] as const) {
      expect(await ask(port, format, 'bench-whole')).toMatchObject({ stamps: { texts: 0 } });
    }
  });

  it('refuses an answer in which a text is missing', async () => {
    const port = await listen((socket) => new ScenarioConnection(withoutWrite(socket, 2)));
    await expect(ask(port, 'chat', 'bench-short')).rejects.toThrow('3 of 4 texts');
  });

  it('refuses an answer that does not come in time', async () => {
    const port = await listen(() => undefined);
    await expect(ask(port, 'chat', 'bench-short')).rejects.toThrow('none in 500 ms');
  });
});

async function ask(port: number, format: BenchFormat, scenario: ScenarioName): Promise<Timing> {
  const target = { host: '127.0.0.1', port, path: paths[format], key: 'k' };
  const connection = new LoadConnection(target);
  onTestFinished(() => connection.close());
  const { texts } = scenarios[scenario];
  const body = requestBody(format, 'everyday', modelOf(scenario, format), texts > 0);
  return connection.send(prepareRequest(target, body, texts), { timeoutMs: 500 });
}

async function listen(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer({ noDelay: true }, serve);
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function withoutWrite(socket: Socket, lost: number): Socket {
  let written = 0;
  const write = socket.write.bind(socket);
  return Object.assign(socket, {
    write: (bytes: string): boolean => {
      written += 1;
      return written === lost || write(bytes);
    },
  });
}

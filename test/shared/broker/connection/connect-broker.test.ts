import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { pino } from 'pino';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { connectBroker, type Broker } from '#shared/broker/connection/connect-broker.ts';
import { parseCredential } from '#shared/broker/connection/credential.ts';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { startNats } from '../../../helpers/servers/start-nats.ts';
import { startSecuredNats } from '../../../helpers/servers/start-secured-nats.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { passTime } from '../../../helpers/pass-time.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { until } from '../../../helpers/until.ts';

async function connect(url: string, file?: string): Promise<Broker> {
  const credential = file === undefined ? undefined : parseCredential(readFileSync(file, 'utf8'));
  const broker = await connectBroker({ url, credential, name: 'test', prefix: 'test', log: silentLog });
  onTestFinished(() => broker.nc.close());
  return broker;
}

function hear(broker: Broker, subject: string): string[] {
  const received: string[] = [];
  broker.subscribe(subject, ({ data }) => received.push(Buffer.from(data).toString()));
  return received;
}

describe('the connection to the broker', () => {
  it('is tried again after a server that was too slow to read the credential', async () => {
    let tries = 0;
    const server = createServer((socket) => {
      tries += 1;
      const answer = tries === 1 ? "-ERR 'Authentication Timeout'\r\n" : 'PONG\r\n';
      socket.on('error', () => undefined);
      socket.on('data', () => (tries === 1 ? socket.end(answer) : socket.write(answer)));
      socket.write(`INFO ${JSON.stringify({ server_id: 'x', version: '2.10.0', max_payload: 1_048_576 })}\r\n`);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    await connect(`nats://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(tries).toBe(2);
  });

  it('delivers further messages after a handler threw', async () => {
    const broker = await connect(inject('natsUrl'));
    const received: string[] = [];
    broker.subscribe('test.throws', ({ data }) => {
      received.push(Buffer.from(data).toString());
      if (received.length === 1) throw new Error('a bug');
    });
    broker.publish('test.throws', 'first');
    await broker.flush();
    broker.publish('test.throws', 'second');
    await until(() => expect(received).toEqual(['first', 'second']));
  });

  it('is reported as lost once, however many tries to reconnect over a WebSocket fail', async () => {
    const port = await findFreePort();
    const nats = await startSecuredNats({
      prefix: 'test',
      config: [`websocket { listen: "127.0.0.1:${port}", no_tls: true }`],
    });
    const lines: string[] = [];
    const log = pino({}, { write: (line) => void lines.push(line) });
    const credential = parseCredential(readFileSync(nats.files.gpu, 'utf8'));
    const access = { url: `ws://127.0.0.1:${port}/nats`, credential };
    const broker = await connectBroker({ ...access, name: 'test', prefix: 'test', log });
    onTestFinished(() => broker.nc.close());
    let tries = 0;
    void (async () => {
      for await (const { type } of broker.nc.status()) if (type === 'reconnecting') tries += 1;
    })();
    await nats.stop();
    await until(() => tries > 5);
    expect(lines.filter((line) => line.includes('broker connection lost'))).toHaveLength(1);
  });

  it('sends the messages of one turn in order, and skips a message that cannot be sent', async () => {
    const broker = await connect(inject('natsUrl'));
    const received = hear(broker, 'test.order');
    broker.publish('test.order', 'first');
    broker.publish('', 'a message to nobody');
    broker.publish('test.order', 'second');
    await broker.flush();
    expect(received).toEqual(['first', 'second']);
  });

  it('sends an unhurried message with the next one, or alone within a few milliseconds', async () => {
    const broker = await connect(inject('natsUrl'));
    const received = hear(broker, 'test.hurry');
    await broker.flush();
    broker.publishUnhurried('test.hurry', 'first');
    broker.publish('test.hurry', 'second');
    await new Promise(setImmediate);
    await broker.flush();
    expect(received).toEqual(['first', 'second']);
    broker.publishUnhurried('test.hurry', 'third');
    await new Promise(setImmediate);
    expect(received).toHaveLength(2);
    await until(() => received.length === 3);
  });

  it('waits for a server that starts later', async () => {
    const nats = stopAfterTest(await startNats());
    await nats.kill();
    const connecting = connect(nats.url);
    await nats.restart();
    expect((await connecting).connected).toBe(true);
  });

  it('reports a loss and a reconnect, even if the clock was set back by an hour meanwhile', async () => {
    passTime(3_600_000);
    const nats = stopAfterTest(await startNats());
    const broker = await connect(nats.url);
    let times = 0;
    broker.onReconnect(() => (times += 1));
    const { connectedSince } = broker;
    vi.setSystemTime(Date.now() - 3_600_000);
    await nats.kill();
    await until(() => !broker.connected);
    expect(broker.disconnectedSince).toBeGreaterThan(connectedSince);
    await nats.restart();
    await until(() => times === 1);
    expect(broker).toMatchObject({ connected: true, disconnectedSince: undefined });
    expect(broker.connectedSince).toBeGreaterThan(connectedSince);
  });

  it('is kept when the server reads its configuration again, because another credential is revoked', async () => {
    const nats = stopAfterTest(await startSecuredNats({ prefix: 'test' }));
    const url = `nats://127.0.0.1:${nats.port}`;
    const kept = await connect(url, nats.files.ingress);
    const revoked = await connect(url, await nats.issue({ role: 'gpu', name: 'gone' }));
    const { connectedSince } = kept;
    await nats.revoke('gone');
    await until(() => !revoked.connected);
    await kept.flush();
    expect(kept.connectedSince).toBe(connectedSince);
  });

  it('gives up at once when the server refuses the credentials', async () => {
    const server = createServer((socket) => {
      socket.write('INFO {"server_id":"x","version":"2.10.0","max_payload":1048576,"headers":true}\r\n');
      socket.on('data', () => socket.end("-ERR 'Authorization Violation'\r\n"));
      socket.on('error', () => socket.destroy());
    });
    onTestFinished(() => void server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await expect(connect(`nats://someone:wrong@127.0.0.1:${port}`)).rejects.toThrow('Authorization');
  });

  it('refuses an invalid address with a sentence that does not repeat its password', async () => {
    await expect(connect('someone:secret@localhost')).rejects.toThrow(/^the address of NATS is not a URL/);
  });
});

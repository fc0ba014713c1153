import { createSocket } from 'node:dgram';
import { lookup, type LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { createNameLookup } from '#shared/public-fetch/lookup-name.ts';

/** Flags of an answer without an error, and of an answer that the name does not exist. */
const [found, unknown] = [0x8180, 0x8183];

/**
 * Starts a name server.
 * @param addressOf returns the IPv4 address of a name; an empty text if the name has none; undefined for no answer
 */
async function startNameServer(addressOf: (name: string) => string | undefined) {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, { port, address: from }) => {
    let end = 12;
    const labels: string[] = [];
    for (let size = query[end] ?? 0; size > 0; size = query[end] ?? 0) {
      labels.push(query.toString('latin1', end + 1, end + 1 + size));
      end += size + 1;
    }
    const isForV4 = query.readUInt16BE(end + 1) === 1;
    const name = labels.join('.');
    asked.push(name);
    const address = addressOf(name);
    if (address === undefined) return;
    const hasAnswer = address !== '' && isForV4;
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    for (const [at, value] of [address === '' ? unknown : found, 1, hasAnswer ? 1 : 0].entries())
      head.writeUInt16BE(value, 2 + 2 * at);
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]);
    const question = query.subarray(12, end + 5);
    socket.send(Buffer.concat([head, question, ...(hasAnswer ? [record] : [])]), port, from);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  const lookupName = promisify(createNameLookup([`127.0.0.1:${socket.address().port}`]));
  return { asked, resolve: (name: string): Promise<LookupAddress[]> => lookupName(name, { all: true }) };
}

it('a name is resolved by the name servers, or by the system if they do not know it', async () => {
  const { resolve, asked } = await startNameServer((name) => (name === 'hooks.example.com' ? '192.0.2.7' : ''));
  expect(await resolve('hooks.example.com')).toEqual([{ address: '192.0.2.7', family: 4 }]);
  expect(await resolve('localhost')).toContainEqual({ address: '127.0.0.1', family: 4 });
  expect(asked).toContain('localhost');
  await expect(resolve('nothing.invalid')).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

it('names whose servers never answer delay no other name, neither here nor in the system', async () => {
  const { resolve } = await startNameServer((name) => (name === 'hooks.example.com' ? '192.0.2.7' : undefined));
  const silent = Promise.allSettled(Array.from({ length: 20 }, (_, at) => resolve(`silent${at}.example.com`)));
  const startedAt = performance.now();
  expect(await resolve('hooks.example.com')).toHaveLength(1);
  expect(await promisify(lookup)('localhost')).toHaveProperty('address');
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  for (const outcome of await silent)
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'ETIMEOUT' } });
});

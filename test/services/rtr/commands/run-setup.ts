import { pino } from 'pino';
import { connectRedis } from '#shared/accounts/connect-redis.ts';
import { KeyStore } from '#shared/accounts/key-store.ts';
import { setup } from '../../../../services/rtr/commands/setup.ts';

/** A process that sets up the cluster named by its arguments (Redis address, prefix) and prints the result as JSON. */
const [url = '', prefix = ''] = process.argv.slice(2);
const connection = connectRedis(url, { log: pino({ level: 'silent' }), name: 'setup' });
await connection.whenReady(AbortSignal.timeout(10_000));
await setup({
  store: new KeyStore(connection.redis, prefix),
  announce: async () => {},
  print: (line) => process.stdout.write(`${line}\n`),
  json: true,
});
connection.close();

import { pino } from 'pino';
import { openAccounts } from '#shared/accounts/accounts.ts';
import { connectRedis } from '#shared/accounts/redis/connect-redis.ts';
import { setup } from '#services/rtr/commands/setup.ts';

/** A process that sets up the cluster named by its arguments (Redis address, prefix) and prints the result as JSON. */
const [url = '', prefix = ''] = process.argv.slice(2);
const connection = connectRedis(url, { log: pino({ level: 'silent' }), name: 'setup' });
await connection.whenReady(AbortSignal.timeout(10_000));
await setup({
  accounts: openAccounts(connection.redis, prefix),
  consoleUrl: 'http://127.0.0.1:8484',
  announce: async () => {},
  print: (line) => process.stdout.write(`${line}\n`),
  json: true,
});
connection.close();

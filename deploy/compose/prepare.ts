import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * The first service of docker-compose.yml: makes the secrets of the cluster and the configuration that holds them, each
 * part's own in a volume of its own, and gives the volumes to the user that all containers run as. On later starts secrets
 * stay as they are.
 */

const user = 1000;
const volumes = '/volumes';
const password = (name: string, given: string | undefined): string =>
  given || kept(name) || randomBytes(24).toString('hex');

const redisPassword = password('redis/password', process.env['REDIS_PASSWORD']);
const natsPassword = password('nats/password', undefined);

write('redis/password', redisPassword);
write('nats/password', natsPassword);
write('nats/nats.conf', [
  'port: 4222',
  'server_name: $NATS_NAME',
  'http: "127.0.0.1:8222"',
  'jetstream { store_dir: /data, max_memory_store: 256M, max_file_store: 1G }',
  `authorization { user: "rtr", password: "${natsPassword}" }`,
]);
write('redis/base.conf', [
  'port 6379',
  'dir /data',
  'appendonly yes',
  'appendfsync everysec',
  'maxmemory-policy noeviction',
  `requirepass ${redisPassword}`,
  `masterauth ${redisPassword}`,
]);
// Redis writes into this one when another node becomes the primary.
if (kept('redis/redis.conf') === undefined) write('redis/redis.conf', ['include /config/base.conf']);

const natsUrl = `nats://rtr:${natsPassword}@nats:4222`;
write('ingress/redis-url', `redis://:${redisPassword}@redis:6379`);
for (const part of ['ingress', 'gpu', 'cli', 'cloud', 'tools']) write(`${part}/nats-url`, natsUrl);
for (const folder of readdirSync(volumes)) chownSync(join(volumes, folder), user, user);

/** What an earlier start has written; undefined when there was none. */
function kept(name: string): string | undefined {
  const file = join(volumes, name);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

/** Writes a file that only the containers' user can read. */
function write(name: string, content: string | readonly string[]): void {
  const file = join(volumes, name);
  writeFileSync(file, typeof content === 'string' ? content : `${content.join('\n')}\n`, { mode: 0o600 });
  chownSync(file, user, user);
}

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * The first service of docker-compose.yml. It creates the secrets of the cluster and the configuration that contains them. Each
 * component has a separate volume for them, whose owner is the containers' user. Later starts do not change the secrets.
 * `prepare single` configures one NATS and one Redis. `prepare ha` runs after `prepare single`, and configures three NATS nodes and a Redis
 * with a replica and three sentinels. `prepare trust` only gives the NATS nodes the current list of revoked credentials.
 */

const user = 1000;
const volumes = '/volumes';
const sentinels = ['sentinel-1', 'sentinel-2', 'sentinel-3'];
/** Maximum bytes of the stream that ingress nodes create for files. */
const filesMaxBytes = Number(process.env['FILES_MAX_BYTES'] || 4 * 1024 ** 3);
/** Bytes of disk space that a NATS server needs in addition to that stream. */
const spareBytes = 1024 ** 3;
const task = process.argv[2];
const isHa = task === 'ha';

/** Lines with the current password that Redis and its sentinels write into their own configuration. */
const passwordLine = /^(?:requirepass|masterauth|user default|sentinel auth-pass|sentinel sentinel-pass) /;

const secret = (name: string, given = ''): string => given || (kept(name) ?? randomBytes(24).toString('hex'));
const redisPassword = secret('redis/password', process.env['REDIS_PASSWORD']);
// A sentinel stores the password without quotes, and cannot read back characters that need them.
if (!/^[\w!#$%&()*+,./:;<=>?@[\]^{|}~-]+$/.test(redisPassword)) {
  process.stderr.write('REDIS_PASSWORD must consist of ASCII characters other than spaces, quotes and backslashes.\n');
  process.exit(78);
}
const routePassword = secret('trust/route-password');
const sealSecret = process.env['SEAL_SECRET'] || (kept('ingress/seal-secret') ?? randomBytes(32).toString('hex'));

if (task === 'trust') {
  writeTrust();
} else {
  writeNats(isHa ? ['nats', 'nats-2', 'nats-3'] : ['nats']);
  writeRedis('redis');
  if (isHa) {
    writeRedis('redis-2', 'redis');
    sentinels.forEach(writeSentinel);
  }
}
for (const folder of readdirSync(volumes)) chownSync(join(volumes, folder), user, user);

/** Issues a credential for each component, because NATS refuses connections without one, and writes the configuration of the NATS nodes. */
function writeNats(nodes: readonly string[]): void {
  execFileSync('rtr', ['credentials', 'init', '--out', `${volumes}/trust`], { stdio: ['ignore', 'ignore', 'inherit'] });
  write('trust/route-password', routePassword);
  writeTrust();
  write('nats/nats.conf', [
    'port: 4222',
    'server_name: $NATS_NAME',
    'client_advertise: $NATS_ADDRESS',
    'http: "127.0.0.1:8222"',
    // With these two settings, NATS drops the connection of a vanished host after 20 to 30 seconds instead of minutes.
    'ping_interval: "10s"',
    'ping_max: 2',
    // A connection with as many subscriptions as are allowed takes 250 KiB of the container's 512 MiB.
    'max_connections: 1000',
    'max_subscriptions: 200',
    // For workers on other machines, through the profile `outside`.
    'websocket { port: 8080, no_tls: true }',
    `jetstream { store_dir: /data, max_memory_store: 256M, max_file_store: ${filesMaxBytes + spareBytes} }`,
    'include ./nats-auth.conf',
    ...(nodes.length > 1 ? ['include ./cluster.conf'] : []),
  ]);
  const routes = nodes.map((node) => `"nats://route:${routePassword}@${node}:6222"`);
  write('nats/cluster.conf', [
    'cluster {',
    '  name: rtr',
    '  port: 6222',
    '  cluster_advertise: $NATS_ROUTE',
    `  authorization { user: route, password: "${routePassword}" }`,
    `  routes: [${routes.join(', ')}]`,
    '}',
  ]);
  for (const part of ['ingress', 'runner', 'gpu', 'cli', 'cloud', 'tools']) {
    write(`${part}/nats-url`, nodes.map((node) => `nats://${node}:4222`).join(','));
    write(`${part}/nats.creds`, needed(`trust/${part}.creds`));
  }
  const password = encodeURIComponent(redisPassword);
  const bySentinel = `redis+sentinel://:${password}@${sentinels.map((name) => `${name}:26379`).join(',')}/rtr`;
  const alone = `redis://:${password}@redis:6379`;
  for (const part of ['ingress', 'runner']) {
    write(`${part}/seal-secret`, sealSecret);
    write(`${part}/redis-url`, isHa ? `${bySentinel}?sentinel-password=${password}` : alone);
  }
}

/** Writes the file with the credentials that NATS accepts. The servers read it again on SIGHUP. */
function writeTrust(): void {
  write('nats/nats-auth.conf', needed('trust/nats-auth.conf'));
}

function writeRedis(name: string, primary?: string): void {
  write(`${name}/password`, redisPassword);
  write(`${name}/base.conf`, [
    'port 6379',
    'dir /data',
    'appendonly yes',
    'appendfsync everysec',
    'maxmemory-policy noeviction',
    // The name is announced, because a container keeps its name but not its address.
    `replica-announce-ip ${name}`,
    `requirepass ${redisPassword}`,
    `masterauth ${redisPassword}`,
  ]);
  // An existing file is kept, because Redis records in it which node is the primary after a failover.
  const first = ['include /config/base.conf', ...(primary ? [`replicaof ${primary} 6379`] : [])];
  write(`${name}/redis.conf`, keptWithoutPassword(`${name}/redis.conf`) ?? first);
}

/** Writes a sentinel's configuration. The sentinel stores its state in the same file. */
function writeSentinel(name: string): void {
  write(`${name}/password`, redisPassword);
  const first = [
    'port 26379',
    'dir /tmp',
    'sentinel resolve-hostnames yes',
    'sentinel announce-hostnames yes',
    `sentinel announce-ip ${name}`,
    'sentinel monitor rtr redis 6379 2',
    'sentinel down-after-milliseconds rtr 3000',
    'sentinel failover-timeout rtr 15000',
    'sentinel parallel-syncs rtr 1',
  ];
  write(`${name}/sentinel.conf`, [
    ...(keptWithoutPassword(`${name}/sentinel.conf`) ?? first),
    `requirepass ${redisPassword}`,
    `sentinel sentinel-pass ${redisPassword}`,
    `sentinel auth-pass rtr ${redisPassword}`,
  ]);
}

/** Returns the lines of a configuration that its server rewrites, without those with a password; undefined if there is no file. */
function keptWithoutPassword(name: string): string[] | undefined {
  return kept(name)
    ?.split('\n')
    .filter((line) => !passwordLine.test(line));
}

/** Returns the content of a file of a volume; undefined if the file does not exist. */
function kept(name: string): string | undefined {
  const file = join(volumes, name);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

/**
 * Returns the content of a required file of a volume. It is required because NATS without its authorization file would accept every
 * connection.
 * @throws Error if the file is missing or empty
 */
function needed(name: string): string {
  const content = kept(name);
  if (!content) throw new Error(`${join(volumes, name)} is missing from its volume`);
  return content;
}

/** Writes a file that only the containers' user can read. */
function write(name: string, content: string | readonly string[]): void {
  const file = join(volumes, name);
  writeFileSync(file, typeof content === 'string' ? content : `${content.join('\n')}\n`, { mode: 0o600 });
  chownSync(file, user, user);
}

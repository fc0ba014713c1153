import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * The first service of docker-compose.yml. It creates the secrets of the cluster and the configuration files that contain them, and writes
 * them into one volume per component. The user of the containers owns the volumes. Later starts do not change the secrets.
 *
 * `prepare single` configures one NATS and one Redis. `prepare ha` runs after `prepare single`, and configures three NATS nodes and a Redis
 * with a replica and three sentinels. `prepare trust` only copies the current list of accepted credentials to the NATS nodes.
 */

/** Id of the user and group that all containers run as. */
const user = 1000;
const volumes = '/volumes';
const sentinels = ['sentinel-1', 'sentinel-2', 'sentinel-3'];
/** Maximum bytes of the stream that ingress nodes create for files. */
const filesMaxBytes = Number(process.env['FILES_MAX_BYTES'] || 4 * 1024 ** 3);
/** Bytes of disk space that a NATS server needs in addition to that stream. */
const spareBytes = 1024 ** 3;
const task = process.argv[2];
const isHa = task === 'ha';

/** Matches the lines of a configuration file of Redis or a sentinel that each start writes anew: those with a password, or a setting. */
const renewedLine = /^(?:requirepass|masterauth|user default|sentinel (?:auth-pass|sentinel-pass|failover-timeout)) /;

const findOrCreateSecret = (name: string, setting = ''): string =>
  setting || (readFile(name) ?? randomBytes(24).toString('hex'));
const redisPassword = findOrCreateSecret('redis/password', process.env['REDIS_PASSWORD']);
// A sentinel stores the password without quotes, so it could not read back characters that need quotes.
if (!/^[\w!#$%&()*+,./:;<=>?@[\]^{|}~-]+$/.test(redisPassword)) {
  process.stderr.write('REDIS_PASSWORD must consist of ASCII characters other than spaces, quotes and backslashes.\n');
  process.exit(78);
}
const routePassword = findOrCreateSecret('trust/route-password');
const sealSecret = process.env['SEAL_SECRET'] || (readFile('ingress/seal-secret') ?? randomBytes(32).toString('hex'));

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
    // A connection with 200 subscriptions takes 250 KiB of the container's 512 MiB.
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
  for (const component of ['ingress', 'runner', 'gpu', 'cli', 'cloud', 'tools']) {
    write(`${component}/nats-url`, nodes.map((node) => `nats://${node}:4222`).join(','));
    write(`${component}/nats.creds`, requireFile(`trust/${component}.creds`));
  }
  const password = encodeURIComponent(redisPassword);
  const sentinelUrl = `redis+sentinel://:${password}@${sentinels.map((name) => `${name}:26379`).join(',')}/rtr`;
  const singleUrl = `redis://:${password}@redis:6379`;
  for (const component of ['ingress', 'runner']) {
    write(`${component}/seal-secret`, sealSecret);
    write(`${component}/redis-url`, isHa ? `${sentinelUrl}?sentinel-password=${password}` : singleUrl);
  }
}

/** Writes the file that lists the credentials that NATS accepts. NATS servers reload the file on SIGHUP. */
function writeTrust(): void {
  write('nats/nats-auth.conf', requireFile('trust/nats-auth.conf'));
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
  // An existing file is kept, because Redis records the primary node in it after a failover.
  const initialLines = ['include /config/base.conf', ...(primary ? [`replicaof ${primary} 6379`] : [])];
  write(`${name}/redis.conf`, readKeptLines(`${name}/redis.conf`) ?? initialLines);
}

/** Writes a sentinel's configuration. The sentinel stores its state in the same file. */
function writeSentinel(name: string): void {
  write(`${name}/password`, redisPassword);
  const initialLines = [
    'port 26379',
    'dir /tmp',
    'sentinel resolve-hostnames yes',
    'sentinel announce-hostnames yes',
    `sentinel announce-ip ${name}`,
    'sentinel monitor rtr redis 6379 2',
    'sentinel down-after-milliseconds rtr 3000',
    'sentinel parallel-syncs rtr 1',
  ];
  write(`${name}/sentinel.conf`, [
    ...(readKeptLines(`${name}/sentinel.conf`) ?? initialLines),
    `requirepass ${redisPassword}`,
    `sentinel sentinel-pass ${redisPassword}`,
    `sentinel auth-pass rtr ${redisPassword}`,
    // If a vote fails, because sentinels ask for votes at the same time, the next one comes after twice this time.
    'sentinel failover-timeout rtr 6000',
  ]);
}

/** Reads a configuration file that its server rewrites. Returns its lines without those that each start writes anew; undefined if
 * there is no file. */
function readKeptLines(name: string): string[] | undefined {
  return readFile(name)
    ?.split('\n')
    .filter((line) => !renewedLine.test(line));
}

/** Reads a file of a volume. Returns undefined if the file does not exist. */
function readFile(name: string): string | undefined {
  const file = join(volumes, name);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

/**
 * Reads a required file of a volume. Without its authorization file, NATS would accept every connection.
 * @throws Error if the file is missing or empty
 */
function requireFile(name: string): string {
  const content = readFile(name);
  if (!content) throw new Error(`${join(volumes, name)} is missing from its volume`);
  return content;
}

/** Writes a file that only the containers' user can read. */
function write(name: string, content: string | readonly string[]): void {
  const file = join(volumes, name);
  writeFileSync(file, typeof content === 'string' ? content : `${content.join('\n')}\n`, { mode: 0o600 });
  chownSync(file, user, user);
}

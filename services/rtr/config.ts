import { z } from 'zod';
import { brokerSettings } from '#shared/broker/connection/broker-settings.ts';
import { isRedisAddress } from '#shared/store/redis/redis-options.ts';
import { logSettings, setting } from '#shared/core/load-config.ts';

/** Host and port of the router if the settings name none. */
export const defaultHost = '127.0.0.1';
export const defaultPort = 8484;

/** Schema of one or more addresses of NATS servers, separated by commas. */
const natsUrl = (doc: string, schemes = ['nats:', 'tls:', 'ws:', 'wss:']) =>
  z
    .string()
    .refine((value) => {
      const urls = value.split(',').map((part) => URL.parse(part.trim()));
      return urls.every((url) => url && schemes.includes(url.protocol) && url.host !== '');
    }, 'must be an address like nats://127.0.0.1:4222')
    .optional()
    .describe(doc);
const redisUrl = (doc: string) =>
  z.string().refine(isRedisAddress, 'must be an address like redis://127.0.0.1:6379').optional().describe(doc);

export const clusterSettings = z.object({
  ...brokerSettings,
  NATS_URL: natsUrl('Address of NATS; without it, the address of the cluster in this folder'),
  REDIS_URL: redisUrl('Address of Redis; without it, the address of the cluster in this folder'),
  REDIS_CA: setting.optionalText('File with CA certificates (PEM) to trust for Redis, in addition to the public ones'),
});

export const linkSettings = clusterSettings.extend({
  PORT: setting.optionalInteger(
    `Port of the router; without it, the port of the cluster in this folder, else ${defaultPort}`,
    1,
    65_535,
  ),
  HOST: setting.optionalText(
    `Address that the router listens on; without it, the address of the cluster in this folder, else ${defaultHost}`,
  ),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .optional()
    .describe('Address at which people reach the router, for links to the console; else the address of this machine'),
});

export const clientSettings = linkSettings.pick({ PORT: true, HOST: true }).extend({
  RTR_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .optional()
    .describe(
      'Address of the router for `rtr batches`, `rtr files` and the commands of the Admin API, with or without the path of its API; the router of this machine if unset',
    ),
  RTR_KEY: setting.optionalText('API key for `rtr batches` and `rtr files`'),
  CHAT_FAMILY: setting.pathSegment('Path segment of the chat format', 'openai'),
});

export const adminSettings = clusterSettings.omit({ NATS_URL: true, NATS_CREDENTIALS: true, NATS_CA: true }).extend({
  PORT: linkSettings.shape.PORT,
  HOST: linkSettings.shape.HOST,
  RTR_URL: clientSettings.shape.RTR_URL,
  RTR_ADMIN_TOKEN: setting.optionalText(
    'Admin token; without it, `rtr` makes a token in the account store for each command, for a router of this machine',
  ),
});

export type AdminConfig = z.output<typeof adminSettings>;

export type ClientConfig = z.output<typeof clientSettings>;

/** Settings of `rtr up`, which also passes all variables on to the services that it starts. */
export const upSettings = linkSettings
  // A credential is for one component, but this command runs all of them.
  .omit({ NATS_CREDENTIALS: true })
  .extend({
    PORT: setting.integer('Port of the router', defaultPort, 1, 65_535),
    HOST: setting.text('Address that the router listens on; 0.0.0.0 lets other machines in', defaultHost),
    NATS_URL: natsUrl('Address of NATS; without it a server is run on this machine', ['nats:', 'tls:']),
    REDIS_URL: redisUrl('Address of Redis; without it a server is run on this machine'),
    TLS_FOLDER: setting.optionalText(
      'Folder with `tls.crt` (certificate and chain, PEM) and `tls.key`, to serve HTTPS and plain HTTP on the port; without it, `rtr up --expose` makes a self-signed certificate',
    ),
    ADMIN_PORT: setting.optionalInteger(
      'Port of the metrics; without it, a free port of the loopback interface',
      1,
      65_535,
    ),
    ENGINE_URLS: setting
      .list('Addresses of further engines, separated by commas, as http://10.0.0.5:8000')
      .pipe(z.array(z.url({ protocol: /^https?$/, error: 'each must be an http or https address' })))
      .describe('Addresses of further engines, separated by commas, as http://10.0.0.5:8000'),
    ROUTER_CONFIG: setting.optionalText(
      'File with names for models, rules for `auto`, engines, providers and more; if unset, names and rules are edited in the console',
    ),
    CHAT_FAMILY: setting.pathSegment('Path segment of the chat format', 'openai'),
    DRAIN_MS: setting.integer('Milliseconds that running answers get to finish at the end', 10_000, 0, 3_600_000),
    LOG_FORMAT: logSettings.LOG_FORMAT,
  })
  .refine(({ PORT, ADMIN_PORT }) => PORT !== ADMIN_PORT, { path: ['ADMIN_PORT'], error: 'must differ from PORT' });

/** Settings of `rtr logs`. */
export const logsSettings = z.object({ LOG_FORMAT: logSettings.LOG_FORMAT });

export type LogsConfig = z.output<typeof logsSettings>;

/** Settings of `rtr join`, which also passes all variables on to the workers that it starts. */
export const boxSettings = z.object({
  ENGINE_URLS: upSettings.shape.ENGINE_URLS,
  ENGINE_API_KEY: setting.optionalText('Key that is sent to the engines as a bearer token'),
  ROUTER_CONFIG: upSettings.shape.ROUTER_CONFIG,
  LOG_FORMAT: logSettings.LOG_FORMAT,
});

export type BoxConfig = z.output<typeof boxSettings>;
export type ClusterConfig = z.output<typeof clusterSettings>;
export type UpConfig = z.output<typeof upSettings>;

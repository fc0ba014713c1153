import { isIP } from 'node:net';
import { z } from 'zod';
import { brokerSettings } from '#shared/broker/connection/broker-settings.ts';
import { setting } from '#shared/core/load-config.ts';

const proxyDoc =
  'Addresses or networks of proxies, as 10.0.0.0/8, that are believed by X-Forwarded-* who the client is and that it uses TLS';

/** `address` or `address/bits`. */
function isNetwork(text: string): boolean {
  const [address = '', bits = '0', ...rest] = text.split('/');
  const most = isIP(address) === 4 ? 32 : isIP(address) === 6 ? 128 : -1;
  return rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most;
}

/** Every setting of the ingress. Times are in milliseconds. */
export const ingressConfig = z
  .object({
    PORT: setting.integer('Port that clients connect to', 8484, 0, 65_535),
    HOST: setting.text('Address that clients connect to', '127.0.0.1'),
    ADMIN_PORT: setting.integer('Port of /metrics, /health, /live and /load for operators', 8485, 0, 65_535),
    ADMIN_HOST: setting.text('Address of the admin port', '127.0.0.1'),
    ...brokerSettings,
    REDIS_URL: setting.text(
      'Redis server: `redis://`, `rediss://` for TLS, or `redis+sentinel://host:port,host:port/name` for one that sentinels watch',
      'redis://127.0.0.1:6379',
    ),
    REDIS_CA: setting.optionalText("File with certificates (PEM) that may have signed Redis', besides the public ones"),
    RTR_PREFIX: setting.pathSegment(
      'First part of every NATS subject and Redis key, so that clusters can share servers',
      'rtr',
    ),
    CHAT_FAMILY: setting.pathSegment('Path segment of the chat format: /api/<segment>', 'openai'),
    MESSAGES_FAMILY: setting.pathSegment('Path segment of the messages format: /api/<segment>', 'anthropic'),
    ROUTER_CONFIG: setting.optionalText(
      'File with names for models, rules for `auto` and more; see docs/configuration.md',
    ),
    MCP_ALLOWED_ORIGINS: setting.list('Hosts of web pages that may use /api/tools/mcp, besides those of this machine'),
    USAGE_MAX_REQUESTS: setting.integer('Requests that the usage ledger keeps singly', 50_000, 1, 10_000_000),
    USAGE_DAYS: setting.integer('Days for which it keeps them singly; totals are kept longer', 30, 1, 3_650),
    PUBLIC_URL: z
      .url({ protocol: /^https?$/, error: 'must be an http or https address' })
      .optional()
      .describe('Address at which people reach the router, for links to the console; else that of the request'),
    TRUSTED_PROXIES: setting
      .list(proxyDoc)
      .refine((list) => list.every(isNetwork), 'each must be an address, or a network as 10.0.0.0/8')
      .describe(proxyDoc),
    MAX_BODY_BYTES: setting.integer('Largest request body, after decompression', 32 * 1024 * 1024, 1_024, 1024 ** 3),
    MAX_HELD_BYTES: setting.integer('All request bodies held at once', 1024 ** 3, 1_024, 64 * 1024 ** 3),
    MAX_ACTIVE: setting.integer('Requests in work or waiting at once on this ingress', 20_000, 1, 1_000_000),
    MAX_QUEUED: setting.integer(
      'Tickets waiting in the whole cluster, for each tier of workers',
      100_000,
      1,
      10_000_000,
    ),
    BODY_TIMEOUT_MS: setting.integer('For a request body to arrive', 60_000, 100, 3_600_000),
    QUEUE_TIMEOUT_MS: setting.integer('In the queue until a worker takes the request', 120_000, 100, 3_600_000),
    NO_WORKER_TIMEOUT_MS: setting.integer(
      'In the queue while no live worker can serve the request',
      15_000,
      0,
      3_600_000,
    ),
    FIRST_TOKEN_TIMEOUT_MS: setting.integer(
      'From a worker taking the request to the first token',
      300_000,
      100,
      3_600_000,
    ),
    IDLE_TIMEOUT_MS: setting.integer('Between two tokens of a stream', 120_000, 100, 3_600_000),
    TOTAL_TIMEOUT_MS: setting.integer('For the whole request', 3_600_000, 100, 86_400_000),
    SILENCE_TIMEOUT_MS: setting.integer('Without a sign of life from a worker in work', 10_000, 3_000, 600_000),
    SPILL_MS: setting.integer('Until an unclaimed request is offered to the next lane too', 500, 10, 600_000),
    KEEP_ALIVE_MS: setting.integer(
      'Without a byte until the client of a stream gets a keep-alive',
      10_000,
      100,
      600_000,
    ),
    MAX_ATTEMPTS: setting.integer('Workers that a request is given to at most', 3, 1, 10),
    DRAIN_MS: setting.integer('For running answers to finish after SIGTERM', 30_000, 0, 3_600_000),
    LOG_LEVEL: setting.choice('Least severe log lines to write', 'info', [
      'trace',
      'debug',
      'info',
      'warn',
      'error',
      'fatal',
    ]),
    LOG_FORMAT: setting.choice('auto: readable at a terminal, JSON elsewhere', 'auto', ['auto', 'json', 'pretty']),
  })
  .refine(({ CHAT_FAMILY, MESSAGES_FAMILY }) => new Set([CHAT_FAMILY, MESSAGES_FAMILY, 'tools']).size === 3, {
    path: ['CHAT_FAMILY'],
    error: 'must differ from MESSAGES_FAMILY, and neither may be `tools`, the segment of the tools API',
  });

export type IngressConfig = z.output<typeof ingressConfig>;

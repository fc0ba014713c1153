import { z } from 'zod';
import { backgroundSettings } from '#shared/accounts/background-responses/background-settings.ts';
import { batchSettings } from '#shared/accounts/batches/batch-settings.ts';
import { idempotencySettings } from '#shared/accounts/idempotent-answers/idempotency-settings.ts';
import { recordingSettings } from '#shared/accounts/recordings/recording-settings.ts';
import { setting } from '#shared/core/load-config.ts';
import { isNetwork } from '#shared/public-fetch/networks.ts';
import { servingSettings } from '#shared/serving/open/serving-settings.ts';
import { isOrigin } from './http/allow-origins.ts';
import { isHopCount } from './http/trusted-proxies.ts';

const proxyDescription =
  'Trusted proxies whose `X-Forwarded-*` headers describe the client: addresses or networks such as `10.0.0.0/8`, or the number of proxies between the client and the ingress if each of them appends the address that it sees';

const originsDoc =
  'Origins of web pages that may use the APIs from a browser with a key, such as `https://app.example.com`, or `*` for all; none if unset';

const networksDoc =
  'Addresses or networks besides the public internet, such as `10.0.0.0/8`, that may receive requests for tokens: MCP servers that people connect to, and their authorization servers';

/** Settings of the ingress. Times are in milliseconds. */
export const ingressConfig = z
  .object({
    PORT: setting.integer('Port that clients connect to', 8484, 0, 65_535),
    HOST: setting.text('Address that clients connect to', '127.0.0.1'),
    ADMIN_PORT: setting.integer('Port of `/metrics`, `/health`, `/live` and `/load` for operators', 8485, 0, 65_535),
    ADMIN_HOST: setting.text('Address of the admin port', '127.0.0.1'),
    ...servingSettings,
    ...batchSettings,
    CHAT_FAMILY: setting.pathSegment('Path segment of the chat format: `/api/<segment>`', 'openai'),
    MESSAGES_FAMILY: setting.pathSegment('Path segment of the messages format: `/api/<segment>`', 'anthropic'),
    MCP_ALLOWED_ORIGINS: setting.list('Hosts of web pages that may use `/api/tools/mcp`, in addition to this machine'),
    OAUTH_NETWORKS: setting
      .list(networksDoc)
      .refine((list) => list.every(isNetwork), 'each must be an address or a network such as 10.0.0.0/8')
      .describe(networksDoc),
    CORS_ORIGINS: setting
      .list(originsDoc)
      .refine(
        (list) => list.every(isOrigin) || (list.length === 1 && list[0] === '*'),
        'each must be an origin such as https://app.example.com, without a path or a wildcard, or `*` must stand alone',
      )
      .describe(originsDoc),
    CREDENTIALS_DIR: setting.optionalText(
      "Folder of the cluster's authority, with which administrators make credentials for workers in the console and the Admin API; if unset, only `rtr credentials` makes them",
    ),
    ...backgroundSettings,
    ...idempotencySettings,
    ...recordingSettings,
    PUBLIC_URL: z
      .url({ protocol: /^https?$/, error: 'must be an http or https address' })
      .optional()
      .describe(
        'Address at which people reach the router, for links to the console; the address of the request if unset',
      ),
    TRUSTED_PROXIES: setting
      .list(proxyDescription)
      .refine(
        (list) => list.every(isNetwork) || (list.length === 1 && isHopCount(list[0])),
        'each must be an address or a network such as 10.0.0.0/8, or a number from 1 to 9 must stand alone',
      )
      .describe(proxyDescription),
    STORE_WAIT_MS: setting.integer(
      'Time after the loss of Redis for which requests wait for Redis, for example during its restart; later requests receive `store_unavailable` at once',
      5_000,
      0,
      60_000,
    ),
    MAX_HELD_BYTES: setting.optionalInteger(
      'Most bytes of all request bodies in memory at once; a key with several bodies must leave as many bytes free as its bodies take; a quarter of the memory limit and at most 1 GiB if unset',
      1_024,
      64 * 1024 ** 3,
    ),
    MAX_UNREAD_BYTES: setting.optionalInteger(
      'Most bytes of all answers that clients have not read yet; an eighth of the memory limit and at most 32 MiB if unset',
      64 * 1024,
      64 * 1024 ** 3,
    ),
    MAX_ACTIVE: setting.optionalInteger(
      'Most requests running or waiting at once on this ingress; if unset, as many as half of the memory limit holds at 64 KiB each, and 20,000 at most',
      1,
      1_000_000,
    ),
    SHED_DELAY_MS: setting.integer(
      'Average delay of the event loop above which new requests are refused with `overloaded`, so that running requests do not suffer; 0 refuses none',
      1_000,
      0,
      60_000,
    ),
    BODY_TIMEOUT_MS: setting.integer(
      'Time within which a request body must arrive; for the upload or download of a file, the longest time without a byte',
      60_000,
      100,
      3_600_000,
    ),
    LEAVE_MS: setting.integer(
      'Time after SIGTERM in which load balancers stop sending requests: `/health` answers 503, and requests are still served',
      5_000,
      0,
      600_000,
    ),
    DRAIN_MS: setting.integer('Time for running answers to finish after `LEAVE_MS`', 30_000, 0, 3_600_000),
    LOG_LEVEL: setting.choice(
      'Least severe level of log lines to print: `trace`, `debug`, `info`, `warn`, `error` or `fatal`',
      'info',
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
    ),
    LOG_FORMAT: setting.choice(
      'Format of log lines: `json`, `pretty`, or `auto` (pretty in a terminal, else JSON)',
      'auto',
      ['auto', 'json', 'pretty'],
    ),
  })
  .refine(({ CHAT_FAMILY, MESSAGES_FAMILY }) => new Set([CHAT_FAMILY, MESSAGES_FAMILY, 'tools']).size === 3, {
    path: ['CHAT_FAMILY'],
    error: 'must differ from MESSAGES_FAMILY, and neither may be `tools`, the segment of the tools API',
  })
  .refine(({ RECORDINGS, SEAL_SECRET }) => RECORDINGS === 'off' || SEAL_SECRET !== undefined, {
    path: ['RECORDINGS'],
    error: 'needs SEAL_SECRET: prompts and answers are recorded only with a secret that is not beside them in Redis',
  });

export type IngressConfig = z.output<typeof ingressConfig>;

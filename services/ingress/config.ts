import { z } from 'zod';
import { idempotencySettings } from '#shared/accounts/idempotent-answers/idempotency-settings.ts';
import { recordingSettings } from '#shared/accounts/recordings/recording-settings.ts';
import { logSettings, setting } from '#shared/core/load-config.ts';
import { isNetwork } from '#shared/public-fetch/networks.ts';
import { servingSettings } from '#shared/serving/open/serving-settings.ts';
import { isOrigin } from './http/allow-origins.ts';
import { isHopCount } from './http/trusted-proxies.ts';

const proxyDescription =
  'Trusted proxies whose `X-Forwarded-*` headers describe the client: addresses or networks such as `10.0.0.0/8`, or the number of proxies between the client and the ingress if each of them appends the address that it sees';

const originsDoc =
  'Origins of web pages that may use the APIs and `/api/tools/mcp` from a browser with a key, such as `https://app.example.com`, or `*` for the APIs and all pages, also beside origins for `/api/tools/mcp`; none if unset';

const networksDoc =
  'Addresses or networks besides the public internet, such as `10.0.0.0/8`, that may receive requests for tokens: MCP servers that people connect to, and their authorization servers';

/** Settings of the ingress. Times are in milliseconds. */
export const ingressConfig = z
  .object({
    PORT: setting.integer('Port that clients connect to', 8484, 0, 65_535),
    HOST: setting.text('Address that clients connect to', '127.0.0.1'),
    TLS_FOLDER: setting.optionalText(
      'Folder with `tls.crt` (certificate and chain, PEM) and `tls.key`: the port then serves HTTPS, and plain HTTP too. A renewed certificate is used within a minute',
    ),
    ADMIN_PORT: setting.integer('Port of `/metrics`, `/health`, `/live` and `/load` for operators', 8485, 0, 65_535),
    ADMIN_HOST: setting.text('Address on which the admin port listens', '127.0.0.1'),
    ...servingSettings,
    NATS_RELAY_URL: z
      .url({ protocol: /^ws$/, error: 'must be an address like ws://127.0.0.1:4223' })
      .optional()
      .describe(
        'Address of the WebSocket listener of NATS, such as `ws://127.0.0.1:4223`. Workers with a credential then reach NATS through the port for clients, as `wss://<host>/nats`; needs `NATS_CREDENTIALS`',
      ),
    CHAT_FAMILY: setting.pathSegment('Path segment of the chat format', 'openai'),
    OAUTH_NETWORKS: setting
      .list(networksDoc)
      .refine((list) => list.every(isNetwork), 'each must be an address or a network such as 10.0.0.0/8')
      .describe(networksDoc),
    CORS_ORIGINS: setting
      .list(originsDoc)
      .refine(
        (list) => list.every((origin) => origin === '*' || isOrigin(origin)),
        'each must be an origin such as https://app.example.com, without a path or a wildcard, or `*`',
      )
      .describe(originsDoc),
    CREDENTIALS_DIR: setting.optionalText(
      "Folder of the cluster's authority, with which administrators make credentials for workers in the console and the Admin API; if unset, only `rtr credentials` makes them",
    ),
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
    ...logSettings,
  })
  .refine(({ CHAT_FAMILY }) => !['anthropic', 'tools'].includes(CHAT_FAMILY), {
    path: ['CHAT_FAMILY'],
    error: 'must differ from `anthropic` and `tools`, the segments of the messages format and of the tools',
  })
  .refine(({ NATS_RELAY_URL, NATS_CREDENTIALS }) => NATS_RELAY_URL === undefined || NATS_CREDENTIALS !== undefined, {
    path: ['NATS_RELAY_URL'],
    error: 'needs NATS_CREDENTIALS: a NATS without credentials would admit everyone who reaches the port for clients',
  })
  .refine(({ RECORDINGS, SEAL_SECRET }) => RECORDINGS === 'off' || SEAL_SECRET !== undefined, {
    path: ['RECORDINGS'],
    error: 'needs SEAL_SECRET: prompts and answers are recorded only with a secret that is not beside them in Redis',
  });

export type IngressConfig = z.output<typeof ingressConfig>;

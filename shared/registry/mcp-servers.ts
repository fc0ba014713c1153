import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError, type Environment } from '#shared/core/load-config.ts';

const texts = z.record(z.string(), z.string());

const stdioServer = z.looseObject({
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** Variables in addition to those that every server gets. */
  env: texts.default({}),
  cwd: z.string().optional(),
});

const httpServer = z.looseObject({
  type: z.enum(['http', 'streamable-http', 'streamableHttp']).optional(),
  url: z.url({ protocol: /^https?$/ }),
  headers: texts.default({}),
  /** `oauth`: each person links an account to the server in the console. Absent: all share the credentials in `headers`. */
  auth: z.literal('oauth').optional(),
});

/** The OAuth client that the router uses for an `oauth` server, as far as it cannot discover it by itself. */
const oauthClient = z.strictObject({
  /** The client that the authorization server has registered; default: one is registered for each person who links an account. */
  clientId: z.string().min(1).optional(),
  clientSecret: z.string().min(1).optional(),
  /** Default: the scopes that the server names. */
  scopes: z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'a scope has no spaces or quotes')).optional(),
});

const oauthServer = z.object({ url: httpServer.shape.url, oauth: oauthClient.default({}) });

const file = z.looseObject({ mcpServers: z.record(z.string().min(1), z.looseObject({})) });

/** How to reach one MCP server. An `oauth` server is reached like an `http` server, for one person at a time. */
export type McpServerEntry = { name: string } & (
  | { kind: 'stdio'; server: z.output<typeof stdioServer> }
  | { kind: 'http' | 'oauth'; server: z.output<typeof httpServer> }
);

/** What the ingress knows of an MCP server with account links. */
export interface OauthServer {
  name: string;
  url: string;
  client: z.output<typeof oauthClient>;
}

/** Entries of a file by name, unchecked. */
export type RawServers = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface OauthServers {
  servers: OauthServer[];
  /** Invalid entries, each with the reason. */
  refused: { name: string; reason: string }[];
}

export interface McpServers {
  servers: McpServerEntry[];
  /** Invalid entries, each with the reason. */
  refused: { name: string; reason: string }[];
}

/**
 * Reads a file in the form that MCP clients share: `{"mcpServers": {"name": {"command", "args", "env"} | {"url", "headers"}}}`.
 * @throws ConfigError if the file as a whole cannot be used
 */
export function readMcpConfig(path: string): RawServers {
  const parsed = file.safeParse(readJson(path));
  if (!parsed.success) throw new ConfigError(`MCP_CONFIG=${path} is not valid: ${sentence(parsed.error)}`);
  const { mcpServers } = parsed.data;
  const shared = Object.keys(mcpServers).find((name) => mcpServers[name]?.['auth'] === 'oauth');
  if (shared === undefined) return mcpServers;
  throw new ConfigError(
    `MCP_CONFIG=${path} is not valid: ${shared}: a server with \`auth: oauth\` belongs into the file that ROUTER_CONFIG names, which the ingress reads too`,
  );
}

/**
 * Checks entries. `${NAME}` and `${NAME:-default}` in any text stand for variables of the environment. Entries with `"disabled": true`
 * are skipped.
 */
export function readMcpServers(written: RawServers, environment: Environment): McpServers {
  const config: McpServers = { servers: [], refused: [] };
  for (const [name, fields] of Object.entries(written)) {
    if (fields['disabled'] === true) continue;
    const entry = readEntry(name, fields, environment);
    if (typeof entry === 'string') config.refused.push({ name, reason: entry });
    else config.servers.push(entry);
  }
  return config;
}

/** Reads the entries with account links. The tools workers report other mistakes of these entries. */
export function readOauthServers(written: RawServers, environment: Environment): OauthServers {
  const read: OauthServers = { servers: [], refused: [] };
  for (const [name, { url, auth, disabled, oauth }] of Object.entries(written)) {
    if (disabled === true || auth !== 'oauth') continue;
    const { value, missing } = expandVariables({ url, oauth }, environment);
    const entry = oauthServer.safeParse(value);
    if (missing.length > 0) read.refused.push({ name, reason: unset(missing) });
    else if (!entry.success) read.refused.push({ name, reason: sentence(entry.error) });
    else read.servers.push({ name, url: entry.data.url, client: entry.data.oauth });
  }
  return read;
}

/** @returns the entry, or the reason why it is invalid */
function readEntry(name: string, written: RawServers[string], environment: Environment): McpServerEntry | string {
  // Only the ingress has the variables of a client.
  const { value, missing } = expandVariables({ ...written, oauth: undefined }, environment);
  if (missing.length > 0) return unset(missing);
  if ('command' in written) {
    const stdio = stdioServer.safeParse(value);
    return stdio.success ? { name, kind: 'stdio', server: stdio.data } : sentence(stdio.error);
  }
  if (!('url' in written)) return 'it has neither a command nor a url';
  const http = httpServer.safeParse(value);
  if (!http.success) return sentence(http.error);
  return { name, kind: http.data.auth === 'oauth' ? 'oauth' : 'http', server: http.data };
}

function unset(missing: readonly string[]): string {
  return `these variables are not set: ${missing.join(', ')}`;
}

const variable = /\$\{(\w+)(?::-([^}]*))?\}/g;

/**
 * Replaces `${NAME}` and `${NAME:-default}` in all texts of a JSON value with variables of the environment.
 * @returns the value, and the names of variables that are not set and have no default
 */
function expandVariables(value: unknown, environment: Environment): { value: unknown; missing: string[] } {
  const missing = new Set<string>();
  const expand = (part: unknown): unknown => {
    if (typeof part === 'string') {
      return part.replace(variable, (_, name: string, fallback: string | undefined) => {
        const found = environment[name] ?? fallback;
        if (found === undefined) missing.add(name);
        return found ?? '';
      });
    }
    if (Array.isArray(part)) return part.map(expand);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, expand(each)]));
  };
  return { value: expand(value), missing: [...missing] };
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new ConfigError(
      `MCP_CONFIG=${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function sentence({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
}

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError, type Environment } from '#shared/core/load-config.ts';

const textsByName = z.record(z.string(), z.string());

const stdioServer = z.looseObject({
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** Environment variables in addition to the ones that every server gets. */
  env: textsByName.default({}),
  cwd: z.string().optional(),
});

const httpServer = z.looseObject({
  type: z.enum(['http', 'streamable-http', 'streamableHttp']).optional(),
  url: z.url({ protocol: /^https?$/ }),
  headers: textsByName.default({}),
  /** `oauth`: each person links an account to the server in the console. Absent: all people share the credentials in `headers`. */
  auth: z.literal('oauth').optional(),
});

/** The settings of the router's OAuth client for an `oauth` server, as far as the router cannot discover them. */
const oauthClient = z.strictObject({
  /**
   * The client that the authorization server has registered; default: the router registers a client for each person who links an account.
   */
  clientId: z.string().min(1).optional(),
  clientSecret: z.string().min(1).optional(),
  /** Default: the scopes that the server names. */
  scopes: z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'a scope has no spaces or quotes')).optional(),
});

const oauthServer = z.object({ url: httpServer.shape.url, oauth: oauthClient.default({}) });

const mcpFile = z.looseObject({ mcpServers: z.record(z.string().min(1), z.looseObject({})) });

/** The way to reach one MCP server. An `oauth` server is reached like an `http` server, for one person at a time. */
export type McpServerEntry = { name: string } & (
  | { kind: 'stdio'; server: z.output<typeof stdioServer> }
  | { kind: 'http' | 'oauth'; server: z.output<typeof httpServer> }
);

/** The fields of an MCP server with account links that the ingress uses. */
export interface OauthServer {
  name: string;
  url: string;
  client: z.output<typeof oauthClient>;
}

/** Entries of a file by name, unchecked. */
export type UncheckedServers = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

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
 * Reads a file that MCP clients also read: `{"mcpServers": {"name": {"command", "args", "env"} | {"url", "headers"}}}`.
 * @throws ConfigError if the file as a whole cannot be used
 */
export function readMcpConfig(path: string): UncheckedServers {
  const parsed = mcpFile.safeParse(readJson(path));
  if (!parsed.success) throw new ConfigError(`MCP_CONFIG=${path} is not valid: ${toSentence(parsed.error)}`);
  const { mcpServers } = parsed.data;
  const linkedServer = Object.keys(mcpServers).find((name) => mcpServers[name]?.['auth'] === 'oauth');
  if (linkedServer === undefined) return mcpServers;
  throw new ConfigError(
    `MCP_CONFIG=${path} is not valid: ${linkedServer}: a server with \`auth: oauth\` belongs in the file that ROUTER_CONFIG names, which the ingress reads too`,
  );
}

/**
 * Checks entries and fills in variables of the environment: `${NAME}` and `${NAME:-default}` in any text. Entries with `"disabled": true`
 * are left out.
 */
export function readMcpServers(entries: UncheckedServers, environment: Environment): McpServers {
  const checked: McpServers = { servers: [], refused: [] };
  for (const [name, fields] of Object.entries(entries)) {
    if (fields['disabled'] === true) continue;
    const entry = readEntry(name, fields, environment);
    if (typeof entry === 'string') checked.refused.push({ name, reason: entry });
    else checked.servers.push(entry);
  }
  return checked;
}

/** Checks the fields `url` and `oauth` of entries with account links. The tools workers report mistakes in other fields. */
export function readOauthServers(entries: UncheckedServers, environment: Environment): OauthServers {
  const checked: OauthServers = { servers: [], refused: [] };
  for (const [name, { url, auth, disabled, oauth }] of Object.entries(entries)) {
    if (disabled === true || auth !== 'oauth') continue;
    const { value, missing } = expandVariables({ url, oauth }, environment);
    const entry = oauthServer.safeParse(value);
    if (missing.length > 0) checked.refused.push({ name, reason: describeUnset(missing) });
    else if (!entry.success) checked.refused.push({ name, reason: toSentence(entry.error) });
    else checked.servers.push({ name, url: entry.data.url, client: entry.data.oauth });
  }
  return checked;
}

/** @returns the entry, or the reason why it is invalid */
function readEntry(name: string, fields: UncheckedServers[string], environment: Environment): McpServerEntry | string {
  // Only the ingress has the variables that the field `oauth` names.
  const { value, missing } = expandVariables({ ...fields, oauth: undefined }, environment);
  if (missing.length > 0) return describeUnset(missing);
  if ('command' in fields) {
    const stdio = stdioServer.safeParse(value);
    return stdio.success ? { name, kind: 'stdio', server: stdio.data } : toSentence(stdio.error);
  }
  if (!('url' in fields)) return 'it has neither a command nor a url';
  const http = httpServer.safeParse(value);
  if (!http.success) return toSentence(http.error);
  return { name, kind: http.data.auth === 'oauth' ? 'oauth' : 'http', server: http.data };
}

function describeUnset(missing: readonly string[]): string {
  return `these variables are not set: ${missing.join(', ')}`;
}

const variablePattern = /\$\{(\w+)(?::-([^}]*))?\}/g;

/**
 * Replaces `${NAME}` and `${NAME:-default}` in all texts of a JSON value with variables of the environment.
 * @returns the value, and the names of variables that are not set and have no default
 */
function expandVariables(value: unknown, environment: Environment): { value: unknown; missing: string[] } {
  const missing = new Set<string>();
  const expand = (part: unknown): unknown => {
    if (typeof part === 'string') {
      return part.replace(variablePattern, (_, name: string, fallback: string | undefined) => {
        const replacement = environment[name] ?? fallback;
        if (replacement === undefined) missing.add(name);
        return replacement ?? '';
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

function toSentence({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
}

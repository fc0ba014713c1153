import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError, type Environment } from '#shared/core/load-config.ts';

const texts = z.record(z.string(), z.string());

const stdioServer = z.looseObject({
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** Added to the variables that every server gets. */
  env: texts.default({}),
  cwd: z.string().optional(),
});

const httpServer = z.looseObject({
  type: z.enum(['http', 'streamable-http', 'streamableHttp']).optional(),
  url: z.url({ protocol: /^https?$/ }),
  headers: texts.default({}),
});

const file = z.looseObject({ mcpServers: z.record(z.string().min(1), z.looseObject({})) });

/** How to reach one MCP server. */
export type McpServerEntry = { name: string } & (
  | { kind: 'stdio'; server: z.output<typeof stdioServer> }
  | { kind: 'http'; server: z.output<typeof httpServer> }
);

/** Entries of a file by name, unchecked. */
export type WrittenServers = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface McpServers {
  servers: McpServerEntry[];
  /** Entries that are not valid, each with the reason. */
  refused: { name: string; reason: string }[];
}

/**
 * Reads a file in the form that MCP clients share: `{"mcpServers": {"name": {"command", "args", "env"} | {"url", "headers"}}}`.
 * @throws ConfigError when the file as a whole cannot be used
 */
export function readMcpConfig(path: string): WrittenServers {
  const parsed = file.safeParse(readJson(path));
  if (!parsed.success) throw new ConfigError(`MCP_CONFIG=${path} is not valid: ${sentence(parsed.error)}`);
  return parsed.data.mcpServers;
}

/**
 * Checks entries. `${NAME}` and `${NAME:-default}` in any text stand for variables of the environment. Entries with
 * `"disabled": true` are left out.
 */
export function readMcpServers(written: WrittenServers, environment: Environment): McpServers {
  const config: McpServers = { servers: [], refused: [] };
  for (const [name, fields] of Object.entries(written)) {
    if (fields['disabled'] === true) continue;
    const entry = readEntry(name, fields, environment);
    if (typeof entry === 'string') config.refused.push({ name, reason: entry });
    else config.servers.push(entry);
  }
  return config;
}

/** @returns the entry, or the reason why it is not valid */
function readEntry(name: string, written: object, environment: Environment): McpServerEntry | string {
  const { value, missing } = expandVariables(written, environment);
  if (missing.length > 0) return `these variables are not set: ${missing.join(', ')}`;
  if ('command' in written) {
    const stdio = stdioServer.safeParse(value);
    return stdio.success ? { name, kind: 'stdio', server: stdio.data } : sentence(stdio.error);
  }
  if (!('url' in written)) return 'it has neither a command nor a url';
  const http = httpServer.safeParse(value);
  return http.success ? { name, kind: 'http', server: http.data } : sentence(http.error);
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

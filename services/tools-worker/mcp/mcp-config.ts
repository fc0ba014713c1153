import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError, type Environment } from '#shared/core/load-config.ts';
import { expandVariables } from './expand-variables.ts';

const texts = z.record(z.string(), z.string());

const stdioServer = z.looseObject({
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** Added to the few variables that every server gets. */
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

/** Entries as they stand in a file, by name. */
export type WrittenServers = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface McpServers {
  servers: McpServerEntry[];
  /** Entries that cannot be used, and why: they do not keep the others from working. */
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
 * Makes of written entries what can be connected to. `${NAME}` and `${NAME:-default}` in any text stand for variables of
 * the environment. Entries with `"disabled": true` are left out.
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

/** @returns the entry, or what is wrong with it */
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

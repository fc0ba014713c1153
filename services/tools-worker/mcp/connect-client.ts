import {
  Client,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type jsonSchemaValidator,
  type JsonSchemaValidator,
} from '@modelcontextprotocol/client';
import { version } from '#shared/core/version.ts';
import { createBoundedFetch } from './bounded-fetch.ts';
import type { McpServerEntry } from '#shared/registry/mcp-servers.ts';
import { ProcessTransport } from './process-transport.ts';
import { writeRefusal } from './refused-call.ts';

/** Maximum milliseconds until a server has started and answered the handshake. `npx` may have to download the server first. */
const connectMs = 60_000;

/** Maximum milliseconds until a server reports its revision of the protocol. Older servers may not answer. */
const probeMs = 5_000;

/** Maximum milliseconds for ending a server's MCP session. */
const endSessionMs = 1_000;

/** Maximum milliseconds until a server confirms that it will report changes of its tools. */
const confirmMs = 10_000;

/** Milliseconds during which notices of changed tools are joined with the first notice. */
const joinWindowMs = 300;

const acceptingValidator: jsonSchemaValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

export interface ConnectOptions {
  /** Maximum bytes of one message from the server. */
  maxMessageBytes: number;
  /** Called when the server reports that its tools have changed; undefined if no caller needs that. */
  onToolsChanged?: () => void;
  /** Called when a server of the newest revision does not confirm that it will report changes, although it declares that it can. */
  onNoNotices?: (reason: unknown) => void;
  signal: AbortSignal;
}

export interface McpConnection {
  client: Client;
  whenEnded: Promise<void>;
  /** Ends the connection, and the process of a local server. Settles within seconds. */
  close: () => Promise<void>;
}

/**
 * Connects to an MCP server, in the newest revision of the protocol that client and server support. Some older servers end or fail when
 * they are asked for their revision. A server that is not ready yet fails in the same way. So after a failure, this function tries the
 * older handshake. If that succeeds, it requests the revision once more.
 * @throws Error with the reason and the server's output on standard error
 */
export async function connectClient(entry: McpServerEntry, options: ConnectOptions): Promise<McpConnection> {
  try {
    return await connectAs('auto', entry, options);
  } catch (error) {
    if (!mayRefuseNegotiation(error)) throw error;
  }
  const older = await connectAs('legacy', entry, options);
  const newer = await connectAs('auto', entry, options).catch(() => undefined);
  if (!newer) return older;
  await older.close();
  return newer;
}

/** Whether a server may have failed because it was asked for its revision. */
function mayRefuseNegotiation(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return (
    cause instanceof SdkError &&
    (cause.code === SdkErrorCode.EraNegotiationFailed || cause.code === SdkErrorCode.RequestTimeout)
  );
}

/** @param mode `auto` requests the revision first; `legacy` begins with the handshake of the older revisions */
async function connectAs(
  mode: 'auto' | 'legacy',
  entry: McpServerEntry,
  { maxMessageBytes, onToolsChanged, onNoNotices, signal }: ConnectOptions,
): Promise<McpConnection> {
  const client = new Client(
    { name: 'model-router', version },
    {
      versionNegotiation: { mode, probe: { timeoutMs: probeMs } },
      // The client's own validator is replaced, because a server's schema could block this process for long. `McpTool` checks the output
      // instead.
      jsonSchemaValidator: acceptingValidator,
    },
  );
  if (onToolsChanged) client.setNotificationHandler('notifications/tools/list_changed', joinCalls(onToolsChanged));
  client.fallbackRequestHandler = ({ method }) =>
    Promise.reject(new ProtocolError(ProtocolErrorCode.MethodNotFound, writeRefusal(method)));
  const { promise: whenEnded, resolve } = Promise.withResolvers<void>();
  // The client is not an EventTarget.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  client.onclose = resolve;
  const transport = createTransport(entry, maxMessageBytes);
  const close = async (): Promise<void> => {
    if (transport instanceof StreamableHTTPClientTransport) await endSession(transport);
    await client.close();
    // The transport is closed separately, because a client that was never connected does not close it.
    await transport.close();
  };
  const { promise: whenAborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    signal.throwIfAborted();
    // The signal is raced, because the client ignores it until the revision is negotiated.
    await Promise.race([client.connect(transport, { timeout: connectMs }), whenAborted]);
  } catch (error) {
    await close();
    const stderr = transport instanceof ProcessTransport ? transport.stderr.trim() : '';
    throw new Error(stderr === '' ? describeError(error) : `${describeError(error)}; it wrote: ${stderr}`, {
      cause: error,
    });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  if (transport instanceof ProcessTransport) transport.dropStderr();
  const reportsChanges = onToolsChanged && client.getServerCapabilities()?.tools?.listChanged === true;
  if (reportsChanges && client.getProtocolEra() === 'modern') subscribeToChanges(client, onNoNotices);
  return { client, whenEnded, close };
}

/**
 * Subscribes to notices of changed tools. Servers of older revisions send these notices without a subscription. The connection does not
 * wait for the confirmation, because some servers never send it.
 */
function subscribeToChanges(client: Client, onNoNotices: ConnectOptions['onNoNotices']): void {
  client.listen({ toolsListChanged: true }, { timeout: confirmMs }).catch((error: unknown) => {
    // If the client has no transport any more, the connection has ended.
    if (client.transport) onNoNotices?.(error);
  });
}

function joinCalls(call: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      call();
    }, joinWindowMs);
  };
}

function createTransport(entry: McpServerEntry, maxMessageBytes: number) {
  if (entry.kind === 'stdio') {
    const { command, args, env, cwd } = entry.server;
    return new ProcessTransport({ command, args, env, cwd, maxMessageBytes });
  }
  const { url, headers } = entry.server;
  const fetch = createBoundedFetch(maxMessageBytes);
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers }, fetch });
}

async function endSession(transport: StreamableHTTPClientTransport): Promise<void> {
  if (transport.sessionId === undefined) return;
  const timer = Promise.withResolvers<void>();
  const timeout = setTimeout(timer.resolve, endSessionMs);
  // The wait is limited, because the server may have ended.
  await Promise.race([transport.terminateSession().catch(() => undefined), timer.promise]);
  clearTimeout(timeout);
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

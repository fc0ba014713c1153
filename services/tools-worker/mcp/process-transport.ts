import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { ReadBuffer, serializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';

export interface ProcessOptions {
  command: string;
  args: readonly string[];
  /** Variables that the server gets in addition to the default variables: HOME, LOGNAME, PATH, SHELL, TERM and USER. */
  env: Record<string, string>;
  cwd?: string | undefined;
  /** Maximum bytes of one message from the server. */
  maxMessageBytes: number;
}

type ServerProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/** Maximum milliseconds for each step of ending a server: closing its input, SIGTERM, SIGKILL. */
const stepMs = 500;

const maxStderrChars = 2_000;

/**
 * Connects to an MCP server that runs as a child process, over its stdin and stdout (Model Context Protocol, "Transports: stdio"). The
 * child leads a process group, and the whole group is ended: a server is often started through `npx` or a shell, and the end of these does
 * not end the server.
 */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** The end of the server's stderr; empty after `dropStderr`. The MCP client recognizes a local process by this field and `pid`. */
  stderr = '';
  readonly #options: ProcessOptions;
  readonly #buffer: ReadBuffer;
  #child: ServerProcess | undefined;
  #keepsStderr = true;
  #isDelivering = false;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.#buffer = new ReadBuffer({ maxBufferSize: options.maxMessageBytes });
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Drops stderr from now on. Call it when the server is ready, because the server may later write clients' inputs to stderr. */
  dropStderr(): void {
    this.#keepsStderr = false;
    this.stderr = '';
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#options;
    const child = spawn(command, args, {
      env: { ...getDefaultEnvironment(), ...env },
      cwd,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child = child;
    child.on('error', (error) => this.onerror?.(error));
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.stderr.on('data', (chunk: Buffer) => {
      if (this.#keepsStderr) this.stderr = (this.stderr + chunk.toString()).slice(-maxStderrChars);
    });
    child.stdout.on('data', (chunk: Buffer) => this.#onData(chunk));
    child.once('exit', () => {
      // The server's children are killed, because they would keep its output open. Output that the server has written is still read.
      killGroup(child, 'SIGKILL');
      hasSettledWithin(once(child, 'close'), stepMs)
        .then(() => this.onclose?.())
        .catch((error: unknown) => this.onerror?.(toError(error)));
    });
    await once(child, 'spawn');
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin, exitCode, signalCode } = this.#requireChild();
    if (exitCode !== null || signalCode !== null) throw new Error('the server has ended');
    if (!stdin.write(serializeMessage(message))) await Promise.race([once(stdin, 'drain'), once(stdin, 'close')]);
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    const whenEnded = child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, 'exit');
    child.stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await hasSettledWithin(whenEnded, stepMs)) break;
      killGroup(child, signal);
    }
    await hasSettledWithin(whenEnded, stepMs);
    this.#buffer.clear();
  }

  #requireChild(): ServerProcess {
    if (!this.#child) throw new Error('the server is not started');
    return this.#child;
  }

  #onData(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      this.onerror?.(toError(error));
      if (this.#child) killGroup(this.#child, 'SIGKILL');
      return;
    }
    if (!this.#isDelivering) this.#deliverMessages().catch((error: unknown) => this.onerror?.(toError(error)));
  }

  /**
   * Delivers one message per turn of the event loop. The client handles results at once, but progress in a later turn. Otherwise a result
   * would overtake the progress before it.
   */
  async #deliverMessages(): Promise<void> {
    this.#isDelivering = true;
    try {
      for (let message = this.#readNextMessage(); message; message = this.#readNextMessage()) {
        this.onmessage?.(message);
        await nextTurn();
      }
    } finally {
      this.#isDelivering = false;
    }
  }

  /** Returns the next message. Skips lines that are not messages, because some servers print logs to stdout. */
  #readNextMessage(): JSONRPCMessage | null {
    for (;;) {
      try {
        return this.#buffer.readMessage();
      } catch (error) {
        this.onerror?.(toError(error));
      }
    }
  }
}

function killGroup({ pid }: ServerProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // No process is left in the group. Some systems return EPERM for a group of zombies.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

async function hasSettledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const timeLimit = sleep(ms, false, { signal: timer.signal }).catch(() => false);
  const settled = await Promise.race([promise.then(() => true), timeLimit]);
  timer.abort();
  return settled;
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

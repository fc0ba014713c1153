import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/** Milliseconds for an answer or a notification. */
const timeout = 60_000;

/**
 * Starts a `codex app-server`: one process for a conversation of many turns. Its protocol is JSON-RPC, one message a line (`codex app-server
 * generate-ts` prints its types).
 */
export function startCodexAppServer(file: string, cwd: string, env: Record<string, string>) {
  const child = spawn(file, ['app-server'], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'], detached: true });
  const answers = new Map<number, (message: JsonObject) => void>();
  const waiting = new Map<string, (params: JsonObject) => void>();
  const notifications: { method: string; params: JsonObject }[] = [];
  const send = (message: JsonObject): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as JsonObject;
    const { id, method, params } = message;
    if (typeof method !== 'string') answers.get(Number(id))?.(message);
    // The one thing that it asks of its user in these sessions is whether a tool may be called.
    else if (id !== undefined)
      send({ id, result: { decision: 'accept', action: 'accept', content: null, _meta: null } });
    else {
      notifications.push({ method, params: isJsonObject(params) ? params : {} });
      waiting.get(method)?.(isJsonObject(params) ? params : {});
      waiting.delete(method);
    }
  });
  let calls = 0;
  return {
    /** Every notification so far. */
    notifications,
    /** Sends a request and returns its result. @throws Error with the answer, if it is an error */
    call: async (method: string, params: JsonObject): Promise<JsonObject> => {
      const id = ++calls;
      const answered = within(new Promise<JsonObject>((resolve) => answers.set(id, resolve)), method);
      send({ id, method, params });
      const { result, error } = await answered;
      if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
      return isJsonObject(result) ? result : {};
    },
    /** The parameters of the next notification of this method. */
    next: (method: string) => within(new Promise<JsonObject>((resolve) => waiting.set(method, resolve)), method),
    stop: async () => {
      if (child.pid === undefined || child.exitCode !== null) return;
      process.kill(-child.pid, 'SIGKILL');
      await once(child, 'exit');
    },
  };

  async function within(promise: Promise<JsonObject>, what: string): Promise<JsonObject> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const last = (): Json => notifications.slice(-5).map(({ method, params }) => ({ method, params }));
    const timer = setTimeout(() => reject(new Error(`no ${what} in time, after ${JSON.stringify(last())}`)), timeout);
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
  }
}

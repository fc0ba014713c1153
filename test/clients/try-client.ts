import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { ScriptFront } from '../helpers/upstreams/start-script-front.ts';
import type { Client, Task } from './client.ts';
import { runCommand, type Ending } from './run-command.ts';

/** Where a client takes its turn. */
export interface Place {
  url: string;
  key: string;
  model: string;
  /** What stands before the engine of this model. */
  front: ScriptFront;
}

/** Milliseconds for one turn of a client. All clients take theirs at once, and those on the real engine wait for its only slot. */
const timeout = 300_000;

/**
 * Lets a client take its turn in one format.
 * @returns the task, as far as it was done
 * @throws Error with what is missing and what the client printed
 */
export async function tryClient(client: Client, format: string, installed: string, place: Place): Promise<Task> {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-client-'));
  try {
    const task = client.task(folder);
    for (const [name, text] of Object.entries(task.files ?? {})) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const { url, key, model, front } = place;
    // Others take their turns at the same time.
    const mark = `Turn ${basename(folder)}.`;
    const prompt = [mark, task.prompt, scriptOf(task)].join('\n');
    const turn = { format, model, prompt, url, key, installed, folder };
    const ending = await runCommand(client.start(turn), turn, timeout);
    const asked = front.asked.filter((body) => JSON.stringify(body).includes(mark));
    const missing = whatIsMissing(task, ending, asked, folder);
    if (missing === undefined && !`${ending.out}${ending.err}`.includes(key)) return task;
    const output = `${ending.out.slice(-3000)}\n${ending.err.slice(-3000)}`.replaceAll(key, '(the key)');
    throw new Error(`${missing ?? 'The key was printed'}. Exit code ${ending.code}, output:\n${output}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function scriptOf({ call, says }: Task): string {
  const calling = call && `[demo call ${call.name} ${JSON.stringify(call.arguments)}]`;
  const saying = says !== undefined && `[demo say ${JSON.stringify(says)}]`;
  return [calling, saying].filter(Boolean).join('\n');
}

function whatIsMissing(task: Task, ending: Ending, asked: JsonObject[], folder: string): string | undefined {
  if (ending.code !== 0) return 'The client failed';
  if (!ending.out.includes(task.prints)) return `It did not print ${JSON.stringify(task.prints)}`;
  const { leaves } = task;
  if (leaves && readFileSync(join(folder, leaves.file), 'utf8') !== leaves.text)
    return `It did not edit ${leaves.file}`;
  if (task.result !== undefined && !asked.some((body) => hasRound(body, task))) {
    return `Of ${asked.length} requests none brought the call and its result to the engine`;
  }
  return undefined;
}

/** Whether a chat request's history has the task's call, with exactly its arguments, and the result of that call. */
function hasRound({ messages }: JsonObject, { call, result = '' }: Task): boolean {
  const list = Array.isArray(messages) ? messages.filter(isJsonObject) : [];
  const calls = list.flatMap((message) => (Array.isArray(message['tool_calls']) ? message['tool_calls'] : []));
  const made = calls.filter(isJsonObject).find(({ function: named }) => {
    return isJsonObject(named) && named['name'] === call?.name && isDeepStrictEqual(parse(named), call?.arguments);
  });
  const answers = list.filter(({ role, tool_call_id: id }) => role === 'tool' && id === made?.['id']);
  return made !== undefined && answers.some(({ content }) => JSON.stringify(content).includes(result));
}

function parse({ arguments: json }: JsonObject): Json | undefined {
  return typeof json === 'string' ? (JSON.parse(json) as Json) : undefined;
}

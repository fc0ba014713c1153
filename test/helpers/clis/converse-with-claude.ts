import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { JsonObject } from '#shared/core/json.ts';

/** A conversation with Claude Code in one process. */
export interface ClaudeConversation {
  /** The messages that ended turns, or answered control requests. */
  results: JsonObject[];
  messages: JsonObject[];
}

/**
 * Holds a conversation with the real Claude Code: sends each prompt when the turn before it has ended.
 * @param prompts texts, contents in the messages format, or control requests
 * @param home the process's home and working directory
 */
export function converseWithClaude(
  command: string,
  prompts: readonly (string | JsonObject[] | JsonObject)[],
  { home, model, environment }: { home: string; model: string; environment: Record<string, string> },
): Promise<ClaudeConversation> {
  const streamed = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
  const child = spawn(command, ['-p', ...streamed, '--model', model], {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ...environment },
    timeout: 240_000,
  });
  const conversation: ClaudeConversation = { results: [], messages: [] };
  const speak = (): void => {
    const prompt = prompts[conversation.results.length];
    if (prompt === undefined) child.stdin.end();
    else child.stdin.write(`${JSON.stringify(lineOf(prompt))}\n`);
  };
  createInterface(child.stdout).on('line', (line) => {
    const message = JSON.parse(line) as JsonObject;
    conversation.messages.push(message);
    if (message['type'] !== 'result' && message['type'] !== 'control_response') return;
    conversation.results.push(message);
    speak();
  });
  child.stderr.resume();
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(conversation));
    speak();
  });
}

function lineOf(prompt: string | JsonObject[] | JsonObject): JsonObject {
  if (typeof prompt === 'string' || Array.isArray(prompt))
    return { type: 'user', message: { role: 'user', content: prompt } };
  return { type: 'control_request', request_id: 'r', request: prompt };
}
